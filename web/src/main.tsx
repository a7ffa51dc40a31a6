import { render } from 'preact';

import { followLivePage } from './live';
import { type TableDocument, makeReport } from './model';
import { Page } from './page';
import { sayThatItIsOpen } from './served';

function embedded<T>(id: string): T {
  return JSON.parse(document.getElementById(id)?.textContent ?? 'null') as T;
}

const report = makeReport(embedded<TableDocument>('borescope-tables'), embedded('borescope-layout'));
const root = document.getElementById('page');
if (root !== null) {
  root.textContent = '';
  render(<Page report={report} />, root);
}
followLivePage();
sayThatItIsOpen();
