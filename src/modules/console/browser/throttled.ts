import { useEffect, useRef, useState } from 'preact/hooks';

/** Milliseconds between two readings of numbers while deposits change. */
const REFRESH_MS = 2000;

/** Returns a number that grows after `grow` was called, at most once in each interval. */
export function useThrottled(): readonly [number, () => void] {
  const [version, setVersion] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const grow = (): void => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      setVersion((before) => before + 1);
    }, REFRESH_MS);
  };
  return [version, grow];
}
