/** Run inside a node: requests-main.ts URL COUNT. Prints what each request took, as JSON. */
import http from 'node:http';
import https from 'node:https';

export interface TimedResponse {
  readonly ms: number;
  readonly bytes: number;
}

const FIRST_WORDS = 300;

function get(url: string, agent: http.Agent): Promise<TimedResponse> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    const request = (agent instanceof https.Agent ? https : http).get(url, { agent }, (response) => {
      let bytes = 0;
      let words = '';
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (response.statusCode !== 200 && words.length < FIRST_WORDS) words += chunk.toString('utf8');
      });
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve({ ms: performance.now() - from, bytes });
        else reject(new Error(`status ${response.statusCode}: ${words}`));
      });
    });
    request.on('error', reject);
  });
}

async function main([url, count]: readonly string[]): Promise<void> {
  if (url === undefined || count === undefined) throw new Error('usage: requests-main.ts URL COUNT');
  // A kubelet without a configured certificate signs its own.
  const agent = url.startsWith('https:')
    ? new https.Agent({ keepAlive: true, rejectUnauthorized: false })
    : new http.Agent({ keepAlive: true });
  const responses: TimedResponse[] = [];
  while (responses.length < Number(count)) responses.push(await get(url, agent));
  agent.destroy();
  process.stdout.write(JSON.stringify(responses));
}

if (import.meta.main) await main(process.argv.slice(2));
