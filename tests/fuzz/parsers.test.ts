/**
 * Every parser that sees what pod authors, images, registries, plugins or API objects say: hostile text never makes it throw, and its
 * work grows with the length of the text, not with the square of it.
 */
import { test } from 'node:test';
import { parseCpuSet } from '../../src/api/cpu-set.ts';
import { podFieldValue, splitSubscript } from '../../src/api/downward.ts';
import { parseDuration } from '../../src/api/duration.ts';
import { imageTag } from '../../src/api/image-name.ts';
import { parseCidr, parseIpAddress } from '../../src/api/ip-address.ts';
import { isDnsSubdomain, labelKeyFault, labelValueFault } from '../../src/api/names.ts';
import * as textRules from '../../src/api/pod-validation/text-rules.ts';
import { formatQuantity, parseQuantity } from '../../src/api/quantity.ts';
import { parseTimestamp } from '../../src/api/timestamp.ts';
import { escapeJson, quoteText } from '../../src/base/go-text.ts';
import { readTrees } from '../../src/base/yaml-documents.ts';
import { readTree } from '../../src/base/yaml-tree.ts';
import { parseMountTable } from '../../src/host/mount-table.ts';
import { parseDockerConfigJson, parseDockercfg } from '../../src/images/rules/docker-config.ts';
import { parseImageName, withDefaultTag, withoutTagAndDigest } from '../../src/images/rules/image-name.ts';
import { parseAnswer } from '../../src/images/rules/provider-protocol.ts';
import { parseRegistryPlace } from '../../src/images/rules/registry-match.ts';
import { parseResolvConf } from '../../src/network/rules/resolv-conf.ts';
import { pemBlocks } from '../../src/objects/rules/pem.ts';
import { normalizeSysctl } from '../../src/pods/rules/sysctls.ts';
import { logMessage } from '../../src/runtime/observe/rules/last-words.ts';
import { envFileValue, readEnvFile } from '../../src/runtime/spec/env-file.ts';
import { expand } from '../../src/runtime/spec/expand.ts';
import { decodeGrpcMessage } from '../../src/wire/grpc-status.ts';
import { checkHostile, type Target } from './hostile.ts';

const POD = { metadata: { name: 'x', namespace: 'n', uid: 'u' }, spec: { containers: [] } };
const NO_ADDRESSES = { hostIps: [], podIps: [] };
const NAME = ['a-', 'a.', 'a/', '_', '__', 'example.com/'];
const IMAGE = [...NAME, '@', 'sha256:', ':tag', 'localhost/', '[::', ']'];
const JSON_PIECES = ['{', '}', '[', ']', '{"auths":', '{"a":', '":', ',', 'null', '1e9'];
const YAML = [
  '- ',
  '[',
  ']',
  '{',
  '}',
  '{a: ',
  'a: ',
  '? ',
  '&a ',
  '*a ',
  '<<: ',
  '# x\n',
  '|\n',
  '---\n',
  '...\n',
  ', ',
  '!!str ',
];

const TARGETS: Readonly<Record<string, Target>> = {
  quantity: {
    run: (text) => {
      const quantity = parseQuantity(text);
      return quantity.ok ? formatQuantity(quantity.value) : quantity;
    },
    pieces: ['1.', '+', 'e', 'E', 'Ki', 'm', '9e9'],
  },
  duration: { run: parseDuration, pieces: ['1h', '1.', 'm', 'ns', '+', '\u00b5s'] },
  timestamp: { run: parseTimestamp, pieces: ['2026-01-01T00:00:00', '.1', 'Z', '+00:00'] },
  'CPU set': { run: parseCpuSet, pieces: ['1-2,', ',', '+1'] },
  'IP address': { run: (text) => [parseIpAddress(text), parseCidr(text)], pieces: ['::', '1.', 'f:', '/32', '%'] },
  'label key': { run: labelKeyFault, pieces: NAME },
  'label value': { run: labelValueFault, pieces: NAME },
  'DNS subdomain': { run: isDnsSubdomain, pieces: NAME },
  'field path': {
    run: (text) => [splitSubscript(text), podFieldValue(POD, text, NO_ADDRESSES)],
    pieces: ['metadata.labels', "['", "']", "['a']"],
  },
  'image name': {
    run: (text) => [imageTag(text), parseImageName(text), withDefaultTag(text), withoutTagAndDigest(text)],
    pieces: IMAGE,
  },
  'place in a registry': { run: parseRegistryPlace, pieces: [...IMAGE, '*', '%', '%41', '?', '#'] },
  'docker config': { run: (text) => [parseDockerConfigJson(text), parseDockercfg(text)], pieces: JSON_PIECES },
  'answer of a credential provider': { run: (text) => parseAnswer(text, 'v1'), pieces: JSON_PIECES },
  'resolv.conf': { run: parseResolvConf, pieces: ['nameserver ', 'search ', 'options ', 'a:1 ', '\r'] },
  'mount table': {
    run: (text) => parseMountTable(text),
    pieces: ['1 2 3:4 / /a - ext4 /dev/x rw\n', ' - ', '\\040', '\\'],
  },
  'PEM text': {
    run: pemBlocks,
    pieces: ['-----BEGIN A-----\n', '-----BEGIN B-----\n', '-----END A-----\n', '-----END ', '-----', 'QUJD', 'x: y\n'],
    longest: 1_000_000,
  },
  'file with variables': {
    run: (text) => envFileValue(readEnvFile(text), 'A'),
    pieces: ["A='b'\n", "A='", "'", '=', '#', '\r\n'],
  },
  'references to variables': {
    run: (text) => expand(text, (name) => name, 1_000_000),
    pieces: ['$', '$$', '$(', '(', ')', '$(A)'],
  },
  'log of a container': {
    run: (text) => logMessage(text, true),
    pieces: ['2026-01-01T00:00:00Z stdout F x\n', ' stdout P ', 'stderr', '\n'],
  },
  'name of a sysctl': { run: normalizeSysctl, pieces: ['net.', 'net/', '*'] },
  'gRPC message': { run: decodeGrpcMessage, pieces: ['%', '%4', '%41', '%ff'] },
  'text to quote': { run: (text) => [quoteText(text), escapeJson(text)], pieces: ['<', '&', '\u2028', '\x7f'] },
  'YAML text': { run: (text) => [readTrees(text), readTree(text)], pieces: YAML, longest: 8_000 },
};

for (const [name, target] of Object.entries(TARGETS)) {
  test(`hostile text: ${name}`, () => checkHostile(target));
}

for (const [name, rule] of Object.entries(textRules)) {
  test(`hostile text: the rule ${name} of pods`, () => checkHostile({ run: rule, pieces: NAME }));
}
