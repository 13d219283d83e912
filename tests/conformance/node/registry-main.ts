/** `node registry-main.ts LAYOUT PORT HOST…`: serves the images of an OCI layout on loopback, as a unit of systemd. */
import { captureOk } from '../../../tools/machine/capture.ts';
import { createRegistry } from './registry.ts';

const [layout = '', port = '', ...hosts] = process.argv.slice(2);
const server = await createRegistry(layout, hosts);
server.listen(Number(port), '127.0.0.1', () => captureOk(['systemd-notify', '--ready']));
