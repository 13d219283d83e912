import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMetrics, exponentialBuckets, formatNumber, linearBuckets } from './metrics.ts';
import { type CountedPod, createPodMetrics } from './metrics-pods.ts';
import { createProbeMetrics } from './metrics-probes.ts';
import { createRuntimeMetrics, operationOf } from './metrics-runtime.ts';

const create = (showHiddenFor = '') => createMetrics({ version: '1.36.4', showHiddenFor });

describe('the text of metrics', () => {
  it('has help, type and samples, families and labels in order', () => {
    const metrics = create();
    const b = metrics.counter({
      name: 'b_total',
      help: 'Two\nlines \\ and "quotes".',
      labels: ['z', 'a'],
      stability: 'STABLE',
    });
    b.add(2, ['x', 'q"\\\n']);
    b.add(1, ['w', 'p']);
    metrics.gauge({ name: 'a', help: 'Plain.', stability: 'none' }).set(1.5);
    metrics.gauge({ name: 'empty', help: 'No series yet.', labels: ['x'] });
    assert.equal(
      metrics.render(),
      [
        '# HELP a Plain.',
        '# TYPE a gauge',
        'a 1.5',
        '# HELP b_total [STABLE] Two\\nlines \\\\ and "quotes".',
        '# TYPE b_total counter',
        'b_total{a="p",z="w"} 1',
        'b_total{a="q\\"\\\\\\n",z="x"} 2',
        '',
      ].join('\n'),
    );
  });

  it('shows histograms with every bucket, and those without labels from the start', () => {
    const metrics = create();
    const one = metrics.histogram({ name: 'h', help: 'H.', buckets: [0.1, 1] });
    const many = metrics.histogram({ name: 'v', help: 'V.', labels: ['a'], buckets: [1] });
    assert.match(
      metrics.render(),
      /h_bucket\{le="0\.1"\} 0\nh_bucket\{le="1"\} 0\nh_bucket\{le="\+Inf"\} 0\nh_sum 0\nh_count 0\n$/,
    );
    one.observe(0.1);
    one.observe(5);
    many.observe(0.5, ['x']);
    const text = metrics.render();
    assert.match(
      text,
      /h_bucket\{le="0\.1"\} 1\nh_bucket\{le="1"\} 1\nh_bucket\{le="\+Inf"\} 2\nh_sum 5\.1\nh_count 2\n/,
    );
    assert.match(
      text,
      /v_bucket\{a="x",le="1"\} 1\nv_bucket\{a="x",le="\+Inf"\} 1\nv_sum\{a="x"\} 0\.5\nv_count\{a="x"\} 1\n/,
    );
    many.remove(['x']);
    assert.doesNotMatch(metrics.render(), /^v_/m);
  });

  for (const [value, wanted] of [
    [0, '0'],
    [-1.5, '-1.5'],
    [688_128, '688128'],
    [1_000_000, '1e+06'],
    [97_415_168, '9.7415168e+07'],
    [1_794_737_531.743_131_2, '1.7947375317431312e+09'],
    [0.0001, '0.0001'],
    [0.000_012_5, '1.25e-05'],
    [1.212_449_688_000_000_2, '1.2124496880000002'],
    [1e21, '1e+21'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
  ] as const) {
    it(`writes ${value} as Go does`, () => assert.equal(formatNumber(value), wanted));
  }

  it('refuses a second family of a name, and the wrong number of labels', () => {
    const metrics = create();
    const counter = metrics.counter({ name: 'a', help: 'A.', labels: ['x'] });
    assert.throws(() => metrics.gauge({ name: 'a', help: 'A.' }), /metric a is there already/);
    assert.throws(() => counter.add(1, ['x', 'y']), /2 values for the labels x/);
  });

  it('leaves out a computed family that fails, and reports it', () => {
    const failed: string[] = [];
    const metrics = createMetrics({ version: '1.36.4', showHiddenFor: '', onError: (family) => failed.push(family) });
    metrics.computed('gauge', { name: 'bad', help: 'B.' }, () => {
      throw new Error('no');
    });
    metrics.computed('gauge', { name: 'good', help: 'G.' }, () => [{ value: 1 }]);
    assert.match(metrics.render(), /^# HELP good/);
    assert.deepEqual(failed, ['bad']);
  });

  it('hides what is deprecated one version later, unless asked for', () => {
    const shown = (deprecatedSince: string, showHiddenFor: string) => {
      const metrics = create(showHiddenFor);
      metrics.counter({ name: 'old', help: 'Old.', deprecatedSince }).add(1);
      return metrics.render();
    };
    assert.match(shown('1.36.0', ''), /\[ALPHA\] \(Deprecated since 1\.36\.0\) Old\./);
    assert.equal(shown('1.35.0', ''), '');
    assert.match(shown('1.35.0', '1.35'), /old 1/);
    assert.equal(shown('1.34.0', '1.35'), '');
    assert.equal(shown('1.35.0', '1.34'), '');
  });

  it('makes buckets', () => {
    assert.deepEqual(exponentialBuckets(1, 2, 5), [1, 2, 4, 8, 16]);
    assert.deepEqual(linearBuckets(1, 0.5, 3), [1, 1.5, 2]);
  });
});

describe('calls of the runtime', () => {
  it('have the names of the reference', () => {
    const names = [
      'RunPodSandbox',
      'ListPodSandbox',
      'PodSandboxStatus',
      'ExecSync',
      'PortForward',
      'ImageFsInfo',
      'UpdateContainerResources',
      'ReopenContainerLog',
      'Version',
    ];
    assert.deepEqual(
      names.map((name) => operationOf(`/runtime.v1.RuntimeService/${name}`)),
      [
        'run_podsandbox',
        'list_podsandbox',
        'podsandbox_status',
        'exec_sync',
        'port_forward',
        'image_fs_info',
        'update_container',
        'reopen_container_log',
        'version',
      ],
    );
  });

  it('are errors unless the caller took them back', () => {
    const metrics = create();
    const count = createRuntimeMetrics(metrics);
    const path = '/runtime.v1.RuntimeService/Status';
    for (const code of [undefined, 'aborted', 'unavailable']) count({ path, ms: 10, code });
    const text = metrics.render();
    assert.match(text, /kubelet_runtime_operations_total\{operation_type="status"\} 3\n/);
    assert.match(text, /kubelet_runtime_operations_errors_total\{operation_type="status"\} 1\n/);
    assert.match(text, /kubelet_runtime_operations_duration_seconds_sum\{operation_type="status"\} 0\.03\n/);
  });
});

describe('probes', () => {
  it('are counted by container, and forgotten with their pod', () => {
    const metrics = create();
    const probes = createProbeMetrics(metrics);
    const sample = {
      probeType: 'Liveness',
      result: 'successful',
      uid: 'u',
      pod: 'p',
      namespace: 'n',
      container: 'c',
      seconds: 0.01,
    } as const;
    probes.observe(sample);
    probes.observe(sample);
    probes.observe({ ...sample, uid: 'v', pod: 'q' });
    assert.match(
      metrics.render(),
      /prober_probe_total\{container="c",namespace="n",pod="p",pod_uid="u",probe_type="Liveness",result="successful"\} 2\n/,
    );
    probes.forget('u');
    assert.doesNotMatch(metrics.render(), /pod="p"/);
    assert.match(metrics.render(), /pod="q"/);
  });
});

describe('pods', () => {
  const START = 1000;
  const pod = (more: Partial<CountedPod> = {}): CountedPod => ({
    uid: 'u',
    isStatic: false,
    step: 'syncing',
    isDesired: true,
    hasRunningSandbox: true,
    hasOwnNetwork: true,
    isStateful: false,
    ephemeralContainers: 0,
    wantedContainers: 1,
    seenAt: START,
    createdAt: undefined,
    rejection: undefined,
    sandboxes: [{ id: 's', createdAt: START + 1 }],
    containers: [],
    ...more,
  });
  const container = (more: Partial<CountedPod['containers'][number]> = {}) =>
    ({
      ...{ id: 'c', type: 'container', state: 'running', createdAt: START + 2, ranForMs: 0, exitCode: 0, reason: '' },
      ...more,
    }) as CountedPod['containers'][number];
  const world = (pods: readonly CountedPod[] = []) => {
    const metrics = create();
    const follow = createPodMetrics(metrics, {
      nodeName: 'node',
      startedAt: START,
      now: () => START + 3000,
      pods: () => pods,
      desired: () => ({ fromFiles: 1, fromApi: 2 }),
      mirrorPods: () => 1,
      cgroupVersion: () => 1,
    });
    return {
      metrics,
      follow,
      value: (name: string) => new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (.*)$`, 'm').exec(metrics.render())?.[1],
    };
  };

  it('are gauged by what they are', () => {
    const { value } = world([
      pod({ containers: [container(), container({ id: 'd', state: 'exited' })] }),
      pod({
        uid: 'v',
        isStatic: true,
        step: 'terminating',
        isDesired: false,
        hasRunningSandbox: false,
        ephemeralContainers: 2,
      }),
      pod({ uid: 'w', rejection: 'OutOfcpu' }),
    ]);
    assert.equal(value('kubelet_node_name{node="node"}'), '1');
    assert.equal(value('kubelet_running_pods'), '2');
    assert.equal(value('kubelet_running_containers{container_state="running"}'), '1');
    assert.equal(value('kubelet_running_containers{container_state="exited"}'), '1');
    assert.equal(value('kubelet_desired_pods{static="true"}'), '1');
    assert.equal(value('kubelet_desired_pods{static=""}'), '2');
    assert.equal(value('kubelet_active_pods{static=""}'), '1');
    assert.equal(value('kubelet_active_pods{static="true"}'), '0');
    assert.equal(value('kubelet_mirror_pods'), '1');
    assert.equal(value('kubelet_managed_ephemeral_containers'), '2');
    assert.equal(value('kubelet_working_pods{config="orphan",lifecycle="terminating",static="true"}'), '1');
    assert.equal(value('kubelet_working_pods{config="runtime_only",lifecycle="sync",static="unknown"}'), '0');
    assert.equal(value('kubelet_cgroup_version'), '1');
  });

  it('count each start and end once, and their time to run', () => {
    const { follow, value } = world();
    follow.follow(pod());
    follow.follow(pod({ containers: [container({ state: 'created' })] }));
    follow.follow(pod({ containers: [container()] }));
    follow.follow(pod({ containers: [container()] }));
    assert.equal(value('kubelet_started_pods_total'), '1');
    assert.equal(value('kubelet_started_containers_total{container_type="container"}'), '1');
    assert.equal(value('kubelet_pod_start_duration_seconds_sum'), '3');
    assert.equal(value('kubelet_pod_start_duration_seconds_count'), '1');
    const ended = container({ state: 'exited', exitCode: 137, reason: 'OOMKilled' });
    follow.follow(pod({ containers: [container({ id: 'd' }), ended] }));
    follow.follow(pod({ containers: [container({ id: 'd' }), ended] }));
    assert.equal(
      value('kubelet_terminated_containers_total{container_type="container",exit_code="137",reason="OOMKilled"}'),
      '1',
    );
    assert.equal(value('kubelet_started_containers_total{container_type="container"}'), '2');
    assert.equal(value('kubelet_pod_start_duration_seconds_count'), '1');
  });

  it('do not count what the kubelet before has started', () => {
    const { follow, value } = world();
    const old = { createdAt: START - 5 };
    follow.follow(
      pod({
        seenAt: START,
        sandboxes: [{ id: 's', ...old }],
        containers: [container(old), container({ id: 'e', state: 'exited', ...old })],
      }),
    );
    assert.equal(value('kubelet_started_pods_total'), '0');
    assert.equal(value('kubelet_started_containers_total{container_type="container"}'), undefined);
    assert.equal(value('kubelet_pod_start_duration_seconds_count'), '0');
    // But it ends under this one.
    follow.follow(pod({ containers: [container({ state: 'exited', exitCode: 1, reason: 'Error', ...old })] }));
    assert.equal(
      value('kubelet_terminated_containers_total{container_type="container",exit_code="1",reason="Error"}'),
      '1',
    );
  });

  it('show how long their start took without pulls and init containers, where it waited for no other component', () => {
    const { follow, value } = world();
    const first = container({ id: 'i', type: 'init_container', state: 'exited', ranForMs: 500 });
    const made = { createdAt: START + 1000 };
    follow.follow(pod(made));
    follow.pulled('u', 700);
    follow.pulled('u', 100);
    follow.follow(pod({ ...made, containers: [first] }));
    follow.follow(pod({ ...made, containers: [first, container()] }));
    follow.pulled('u', 9000);
    follow.follow(pod({ ...made, containers: [first, container()] }));
    assert.equal(value('kubelet_pod_start_total_duration_seconds_sum'), '2');
    assert.equal(value('kubelet_pod_start_sli_duration_seconds_sum'), '0.7');
    assert.equal(value('kubelet_pod_start_sli_duration_seconds_count'), '1');
    assert.equal(value('kubelet_first_network_pod_start_sli_duration_seconds'), '0.7');
    follow.follow(pod({ ...made, uid: 'v', isStateful: true, containers: [container({ id: 'd' })] }));
    follow.follow(pod({ uid: 'w', createdAt: START, hasOwnNetwork: false, containers: [container({ id: 'e' })] }));
    assert.equal(value('kubelet_pod_start_total_duration_seconds_count'), '3');
    assert.equal(value('kubelet_pod_start_sli_duration_seconds_count'), '2');
    assert.equal(value('kubelet_first_network_pod_start_sli_duration_seconds'), '0.7');
  });

  it('count those that come back under their UID, and those that only the runtime knew', () => {
    const { follow, value } = world();
    assert.equal(value('kubelet_restarted_pods_total{static="true"}'), '0');
    follow.follow(pod({ isStatic: true }));
    follow.forget('u');
    follow.follow(pod({ isStatic: true }));
    follow.follow(pod({ isStatic: true }));
    follow.follow(pod({ uid: 'x', wantedContainers: 0 }));
    follow.follow(pod({ uid: 'x', wantedContainers: 0 }));
    assert.equal(value('kubelet_restarted_pods_total{static="true"}'), '1');
    assert.equal(value('kubelet_restarted_pods_total{static=""}'), '0');
    assert.equal(value('kubelet_orphaned_runtime_pods_total'), '1');
  });

  it('count rejections once', () => {
    const { follow, value } = world();
    follow.follow(pod({ rejection: 'OutOfcpu' }));
    follow.follow(pod({ rejection: 'OutOfcpu' }));
    assert.equal(value('kubelet_admission_rejections_total{reason="OutOfcpu"}'), '1');
  });
});
