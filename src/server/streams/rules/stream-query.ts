/** Parses the queries of exec, attach, port-forward and run. Errors have the wording of the reference. */
import { type Parsed, parsed, unparsable } from '../../../api/parsed.ts';
import { quoteText } from '../../../base/go-text.ts';

export interface StreamRequest {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** Only `1` enables a stream. A terminal has one output, so there is no separate stderr. */
export function parseStreams(query: URLSearchParams): Parsed<StreamRequest> {
  const isOn = (name: string) => query.get(name) === '1';
  const tty = isOn('tty');
  const request = { stdin: isOn('input'), stdout: isOn('output'), stderr: isOn('error') && !tty, tty };
  if (!request.stdin && !request.stdout && !request.stderr) {
    return unparsable('you must specify at least 1 of stdin, stdout, stderr');
  }
  return parsed(request);
}

const MOST_WORDS = 4096;

/** One parameter for each word of the command. */
export function parseCommand(query: URLSearchParams): Parsed<readonly string[]> {
  const words = query.getAll('command');
  return words.length > MOST_WORDS ? unparsable(`a command can have at most ${MOST_WORDS} words`) : parsed(words);
}

/** Unlike exec, run has all words in `cmd`. */
export function runCommandOf(query: URLSearchParams): readonly string[] {
  return (query.get('cmd') ?? '').split(' ');
}

const LARGEST_PORT = 65_535;

/** SPDY names the port of each stream in its headers; a WebSocket can't, so it names them all here. */
export function parsePorts(query: URLSearchParams, isWebSocket: boolean): Parsed<readonly number[]> {
  if (!isWebSocket) return parsed([]);
  const texts = query.getAll('port');
  if (texts.length === 0) return unparsable('query parameter "port" is required');
  const ports: number[] = [];
  for (const text of texts) {
    if (text === '') return unparsable('query parameter "port" cannot be empty');
    for (const one of text.split(',')) {
      const problem = portProblem(one);
      if (problem !== undefined) return unparsable(`unable to parse ${quoteText(text)} as a port: ${problem}`);
      if (Number(one) === 0) return unparsable(`port ${quoteText(text)} must be > 0`);
      ports.push(Number(one));
    }
  }
  return parsed(ports);
}

function portProblem(text: string): string | undefined {
  if (!/^\d+$/.test(text)) return `strconv.ParseUint: parsing ${quoteText(text)}: invalid syntax`;
  if (Number(text) > LARGEST_PORT) return `strconv.ParseUint: parsing ${quoteText(text)}: value out of range`;
  return undefined;
}
