import { useEffect, useState } from 'preact/hooks';

/** Choices that a browser keeps: the zone of times, and the colours. */
export type Preferences = { readonly zone: 'utc' | 'local'; readonly theme: 'system' | 'light' | 'dark' };

const KEY = 'deposit-console';
const DEFAULTS: Preferences = { zone: 'utc', theme: 'system' };
const listeners = new Set<(preferences: Preferences) => void>();
let present = read();
apply();

function read(): Preferences {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>) };
  } catch {
    return DEFAULTS; // storage that is switched off or holds something else
  }
}

function apply(): void {
  if (present.theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = present.theme;
}

export function setPreferences(change: Partial<Preferences>): void {
  present = { ...present, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(present));
  } catch {
    // kept for this page alone
  }
  apply();
  for (const listener of listeners) listener(present);
}

/** Returns the preferences, and renders again when they change. */
export function usePreferences(): Preferences {
  const [shown, setShown] = useState(present);
  useEffect(() => {
    setShown(present);
    listeners.add(setShown);
    return () => void listeners.delete(setShown);
  }, []);
  return shown;
}
