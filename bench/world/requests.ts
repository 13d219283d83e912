/** HTTP requests to a kubelet from inside its node, timed where they are made: no gate of the lab stands in between. */
import { join } from 'node:path';
import type { LabNode } from '../../tests/lab/lab.ts';
import type { TimedResponse } from './requests-main.ts';

const PROGRAM = join(import.meta.dirname, 'requests-main.ts');

/** One after the other over one connection. Any status but 200 is an error. */
export async function timeRequests(node: LabNode, url: string, count: number): Promise<readonly TimedResponse[]> {
  const { code, stdout, stderr } = await node.exec([
    ...[process.execPath, '--disable-warning=ExperimentalWarning', PROGRAM],
    ...[url, String(count)],
  ]);
  if (code !== 0) throw new Error(`GET ${url}: ${stderr.trim()}`);
  return JSON.parse(stdout) as readonly TimedResponse[];
}
