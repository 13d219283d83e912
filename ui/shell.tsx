/** A shell in a container. The terminal is loaded only here: it is larger than all the rest. */
import { useEffect, useRef, useState } from 'preact/hooks';
import '@xterm/xterm/css/xterm.css';

export function Shell({ pod, container }: { readonly pod: string; readonly container: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [state, setState] = useState('opens');
  useEffect(() => {
    const ending = new AbortController();
    const open = async () => {
      const { openTerminal } = await import('./terminal.ts');
      const { current } = place;
      if (current !== null && !ending.signal.aborted)
        openTerminal(current, { pod, container, signal: ending.signal, onState: setState });
    };
    open().catch((error: unknown) => setState(String(error)));
    return () => ending.abort();
  }, [pod, container]);
  return (
    <div>
      <p class="faint" role="status">
        {state}
      </p>
      <div class="terminal" ref={place} />
    </div>
  );
}
