import { judgeAll } from '../judge-testing.ts';

const alpha = { gates: { LoggingAlphaOptions: true } };

judgeAll({
  'format json': { config: { logging: { format: 'json' } } },
  'format unknown': {
    config: { logging: { format: 'xml' } },
    problems: [/^logging\.format: must be "text" or "json"/],
  },
  'flush frequency negative': { config: { logging: { flushFrequency: -1 } }, problems: ['logging.flushFrequency'] },
  'verbosity at its highest': { config: { logging: { verbosity: 2 ** 31 - 1 } } },
  'verbosity too high': { config: { logging: { verbosity: 2 ** 31 } }, problems: ['logging.verbosity'] },
  vmodule: { config: { logging: { vmodule: [{ filePattern: 'pods*', verbosity: 4 }] } } },
  'vmodule with json': {
    config: { logging: { format: 'json', vmodule: [{ filePattern: 'pods', verbosity: 4 }] } },
    problems: [/^logging\.vmodule: works with the format "text" only/],
  },
  'vmodule with every mistake': {
    config: {
      logging: {
        vmodule: [
          { filePattern: '', verbosity: 1 },
          { filePattern: 'a=b', verbosity: 1 },
          { filePattern: 'a,b', verbosity: 2 ** 31 },
        ],
      },
    },
    problems: [
      /^logging\.vmodule\[0\]\.filePattern: must not be empty/,
      'logging.vmodule[1].filePattern',
      'logging.vmodule[2].filePattern',
      'logging.vmodule[2].verbosity',
    ],
  },
  'alpha options': {
    config: {
      logging: { options: { text: { splitStream: true, infoBufferSize: '64Ki' }, json: { splitStream: true } } },
    },
    around: alpha,
  },
  'alpha options without the gate': {
    config: {
      logging: { options: { text: { splitStream: true, infoBufferSize: '64Ki' }, json: { splitStream: true } } },
    },
    problems: [
      'logging.options.text.infoBufferSize',
      'logging.options.text.splitStream',
      'logging.options.json.splitStream',
    ],
  },
  'a buffer of nothing': { config: { logging: { options: { json: { infoBufferSize: '0' } } } } },
  'log size': { config: { containerLogMaxSize: '1.5Ki' } },
  'log size unreadable': { config: { containerLogMaxSize: '10X' }, problems: ['containerLogMaxSize'] },
  'log size without end': { config: { containerLogMaxSize: '9Ei' }, problems: ['containerLogMaxSize'] },
  'log size of half a byte': { config: { containerLogMaxSize: '500m' }, problems: ['containerLogMaxSize'] },
  'log size negative': { config: { containerLogMaxSize: '-1' }, warnings: [/turns log rotation off/] },
  'pod logs': { config: { podLogsDir: '/var/log/other-pods' } },
  'pod logs at the root': { config: { podLogsDir: '/' } },
  'pod logs relative': { config: { podLogsDir: 'logs' }, problems: [/^podLogsDir: must be an absolute path/] },
  'pod logs with a slash too many': { config: { podLogsDir: '/var/log/' }, problems: [/shortest form \(\/var\/log\)/] },
  'pod logs by a detour': { config: { podLogsDir: '/var/./log/../x//y' }, problems: [/shortest form \(\/var\/x\/y\)/] },
  'pod logs not in ASCII': { config: { podLogsDir: '/var/lögs' }, problems: [/ASCII/] },
  'system log query': { config: { enableSystemLogQuery: true } },
  'system log query without the handler': {
    config: { enableSystemLogQuery: true, enableSystemLogHandler: false },
    problems: [/^enableSystemLogQuery: needs enableSystemLogHandler/],
  },
});
