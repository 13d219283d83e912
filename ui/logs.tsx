/** The log of a container, as it is written. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { headers } from './session.ts';

const KEPT_LINES = 5000;
const FIRST_LINES = 500;

async function follow(url: string, signal: AbortSignal, onText: (text: string) => void): Promise<void> {
  const answer = await fetch(url, { headers: headers(), signal });
  if (!answer.ok || answer.body === null) throw new Error((await answer.text()) || `HTTP ${answer.status}`);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) onText(part.value);
}

export function Logs({ pod, container }: { readonly pod: string; readonly container: string }) {
  const [text, setText] = useState('');
  const [state, setState] = useState('');
  const [previous, setPrevious] = useState(false);
  const place = useRef<HTMLPreElement>(null);
  const atEnd = useRef(true);

  useEffect(() => {
    const ending = new AbortController();
    setText('');
    setState('follows');
    const query = previous ? 'previous=true' : 'follow=true';
    const add = (more: string) =>
      setText((before) => {
        const lines = `${before}${more}`.split('\n');
        return lines.slice(-KEPT_LINES).join('\n');
      });
    follow(`/page/logs/${pod}/${container}?tailLines=${FIRST_LINES}&${query}`, ending.signal, add).then(
      () => setState('ended'),
      (error: unknown) => {
        if (!ending.signal.aborted) setState(String(error));
      },
    );
    return () => ending.abort();
  }, [pod, container, previous]);

  useEffect(() => {
    if (atEnd.current && place.current !== null) place.current.scrollTop = place.current.scrollHeight;
  }, [text]);

  const scrolled = () => {
    const { current } = place;
    if (current !== null) atEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < 30;
  };
  return (
    <div>
      <p class="bar">
        <label>
          <input type="checkbox" checked={previous} onChange={() => setPrevious(!previous)} /> the container before this
          one
        </label>
        <span class="faint" role="status">
          {state}
        </span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
      <pre class="log" ref={place} onScroll={scrolled} tabIndex={0} role="log" aria-label={`Log of ${container}`}>
        {text}
      </pre>
    </div>
  );
}
