import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countCalls, parseRuntimeCalls } from './runtime-calls.ts';

const METRICS = `# TYPE grpc_server_started_total counter
grpc_server_started_total{grpc_method="ListPodSandbox",grpc_service="runtime.v1.RuntimeService",grpc_type="unary"} 7
grpc_server_started_total{grpc_method="ExecSync",grpc_service="runtime.v1.RuntimeService",grpc_type="unary"} 1.5e+03
grpc_server_started_total{grpc_method="ListImages",grpc_service="runtime.v1.ImageService",grpc_type="unary"} 2
grpc_server_started_total{grpc_method="Subscribe",grpc_service="containerd.services.events.v1.Events",grpc_type="server_stream"} 1
grpc_server_handled_total{grpc_code="OK",grpc_method="ListPodSandbox",grpc_service="runtime.v1.RuntimeService",grpc_type="unary"} 7
`;

test('counts the calls of CRI and no others', () => {
  const calls = parseRuntimeCalls(METRICS);
  assert.deepEqual(Object.fromEntries(calls), { ListPodSandbox: 7, ExecSync: 1500, ListImages: 2 });
  assert.equal(countCalls(calls), 1509);
  assert.equal(countCalls(calls, 'ExecSync'), 1500);
  assert.equal(countCalls(calls, 'Attach'), 0);
});

test('no metrics, no calls', () => {
  assert.equal(countCalls(parseRuntimeCalls('')), 0);
});
