import { Store } from './store.ts';

/** Choices that a browser keeps: the zone of times, and the colours. */
export type Preferences = { readonly zone: 'utc' | 'local'; readonly theme: 'system' | 'light' | 'dark' };

const KEY = 'deposit-console';
const DEFAULTS: Preferences = { zone: 'utc', theme: 'system' };
export const preferences = new Store(read());
apply(preferences.value);
addEventListener('storage', () => show(read())); // another tab changed them

function read(): Preferences {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>) };
  } catch {
    return DEFAULTS; // storage that is switched off or holds something else
  }
}

function apply({ theme }: Preferences): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

export function setPreferences(change: Partial<Preferences>): void {
  const present = { ...preferences.value, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(present));
  } catch {
    // kept for this page alone
  }
  show(present);
}

function show(present: Preferences): void {
  apply(present);
  preferences.value = present;
}
