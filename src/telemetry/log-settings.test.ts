import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { logSettings } from './log-settings.ts';

const options = {
  text: { splitStream: true, infoBufferSize: '64Ki' },
  json: { splitStream: false, infoBufferSize: '9Ei' },
};

describe('log settings', () => {
  it('are those of the format in use', () => {
    const vmodule = [{ filePattern: 'worker', verbosity: 4 }];
    assert.deepEqual(logSettings({ format: 'text', verbosity: 2, vmodule, options }), {
      format: 'text',
      splitStream: true,
      infoBufferSize: 65536,
      verbosity: 2,
      modules: vmodule,
    });
    const json = logSettings({ format: 'json', verbosity: 0, vmodule: [], options });
    assert.deepEqual([json.format, json.splitStream, json.infoBufferSize], ['json', false, 2 ** 31]);
  });

  it('write at once where the size of the buffer is unreadable', () => {
    const odd = { text: { splitStream: true, infoBufferSize: 'much' }, json: options.json };
    assert.equal(logSettings({ format: 'text', verbosity: 0, vmodule: [], options: odd }).infoBufferSize, 0);
  });
});
