import { render } from 'preact';

import { followLivePage, isWaiting, showWaiting } from './live';
import { type TableDocument, makeReport } from './model';
import { Page } from './page';
import { sayThatItIsOpen } from './served';

function embedded<T>(id: string): T {
  return JSON.parse(document.getElementById(id)?.textContent ?? 'null') as T;
}

const root = document.getElementById('page');
if (root !== null && isWaiting()) {
  showWaiting(root);
} else if (root !== null) {
  const report = makeReport(embedded<TableDocument>('borescope-tables'), embedded('borescope-layout'));
  root.textContent = '';
  render(<Page report={report} />, root);
}
followLivePage();
sayThatItIsOpen();
