// Light, dark, or as the system says.
import { useState } from 'preact/hooks';

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const KEY = 'borescope-theme';

function stored(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'auto';
  } catch {
    return 'auto'; // a page from a disk may have no storage
  }
}

function apply(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // It holds for this visit only.
  }
}

export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(() => {
    const first = stored();
    document.documentElement.dataset['theme'] = first;
    return first;
  });
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
  const change = () => {
    apply(next);
    setTheme(next);
  };
  return (
    <button type="button" class="theme" onClick={change} title={`Colours: ${theme}; change to ${next}`}>
      <span aria-hidden="true">{theme === 'auto' ? '◐' : theme === 'light' ? '☀' : '☾'}</span> {theme}
    </button>
  );
}
