import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import {
  PodMonitor,
  PrometheusRule,
  ServiceMonitor,
} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { Deployment } from 'kubernetes-models/apps/v1';
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Service } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

const root = path.resolve(import.meta.dirname, '../../..');
const chart = path.join(root, 'server', 'operations', 'chart');
const hasHelm = spawnSync('helm', ['version']).status === 0;
if (!hasHelm) console.warn('skipped: the tests of the chart need helm');

const models = {
  Deployment,
  HTTPRoute,
  Ingress,
  NetworkPolicy,
  PodDisruptionBudget,
  PodMonitor,
  PrometheusRule,
  ScaledObject,
  Service,
  ServiceMonitor,
} as const;
type Kind = keyof typeof models;
interface Manifest {
  readonly kind: Kind;
  readonly spec: Readonly<Record<string, unknown>>;
}

const one = ['replicas=1', 'cluster.enabled=false'];
const valueSets: Readonly<Record<string, readonly string[]>> = {
  'two nodes': [],
  'one node': one,
  'behind an ingress with TLS': ['ingress.enabled=true', 'ingress.className=haproxy', 'ingress.tlsSecret=talk-tls'],
  'behind a gateway, for one namespace': [
    'httpRoute.enabled=true',
    'httpRoute.parentRef.name=public',
    'networkPolicy.from[0].namespaceSelector.matchLabels.name=gateways',
  ],
  'scaled and watched': ['keda.enabled=true', 'serviceMonitor.enabled=true', 'prometheusRule.enabled=true'],
  'with workers': ['worker.enabled=true', 'worker.dataClaim=runs', 'serviceMonitor.enabled=true'],
  'with workers that are scaled': [
    'worker.enabled=true',
    'worker.keda.enabled=true',
    'worker.keda.maxReplicas=8',
    'serviceMonitor.enabled=true',
  ],
  'with an LLM, weights and characters': [
    'settings.DRAMATIS_LLM_BASE_URL=http://vllm:8000/v1',
    'data.modelsClaim=models',
    'data.charactersClaim=characters',
    'nodeSelector.pool=talk',
  ],
};

function helm(...args: readonly string[]) {
  return spawnSync('helm', args, { cwd: chart, encoding: 'utf8' });
}

function setsOf(values: readonly string[]): string[] {
  return values.flatMap((value) => ['--set', value]);
}

/** The manifests of a release called "talk". */
function manifestsOf(values: readonly string[]): Manifest[] {
  const { status, stdout, stderr } = helm('template', 'talk', '.', ...setsOf(values));
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return parseAllDocuments(stdout).flatMap((document) => {
    const manifest = document.toJS() as Manifest | null;
    return manifest === null ? [] : [manifest];
  });
}

/** What the schema of its kind has against a manifest; undefined if nothing. */
function faultOf(manifest: Manifest): string | undefined {
  const Model = models[manifest.kind];
  if (Model === undefined) return `no schema of ${manifest.kind}`;
  try {
    new Model(manifest as never).validate();
    return undefined;
  } catch (fault) {
    return String(fault);
  }
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsNonRoot: boolean };
  readonly containers: readonly {
    readonly env: readonly { readonly name: string; readonly value?: string }[];
    readonly resources: { readonly limits: { readonly memory?: string }; readonly requests: { readonly cpu?: string } };
    readonly securityContext: Readonly<Record<string, unknown>>;
    readonly livenessProbe: { readonly httpGet: { readonly path: string } };
    readonly readinessProbe: { readonly httpGet: { readonly path: string } };
  }[];
}

describe.skipIf(!hasHelm)('the Helm chart', () => {
  describe.each(Object.entries(valueSets))('%s', (_name, values) => {
    it('passes the linter, and every manifest its schema', () => {
      expect(helm('lint', '--strict', '.', ...setsOf(values)).status).toBe(0);
      const manifests = manifestsOf(values);
      expect(manifests.length).toBeGreaterThan(2);
      expect(manifests.map(faultOf).filter((fault) => fault !== undefined)).toEqual([]);
    });

    it('runs as an ordinary user with limits and probes, and drains before it is killed', () => {
      const manifests = manifestsOf(values);
      const deployment = manifests.find(({ kind }) => kind === 'Deployment');
      const { spec: pod } = (deployment as Manifest).spec['template'] as { readonly spec: Pod };
      const [container] = pod.containers;
      const drainSeconds = container?.env.find(({ name }) => name === 'DRAMATIS_DRAIN_SECONDS')?.value;
      expect(pod.securityContext.runAsNonRoot).toBe(true);
      expect(container?.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
      });
      expect(container?.resources).toMatchObject({ limits: { memory: '4Gi' }, requests: { cpu: '2' } });
      expect(container?.livenessProbe.httpGet.path).not.toBe(container?.readinessProbe.httpGet.path);
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(drainSeconds) + 10);
      expect(manifests.some(({ kind }) => kind === 'PodDisruptionBudget')).toBe(values !== one);
    });
  });

  it('runs workers as an ordinary user, apart from the service, with time to finish what is under way', () => {
    const manifests = manifestsOf(valueSets['with workers'] ?? []);
    const of = (kind: Kind): Manifest[] => manifests.filter((manifest) => manifest.kind === kind);
    const { template, selector } = (
      of('Deployment').find(({ spec }) => spec['replicas'] === 2 && !('strategy' in spec)) as Manifest
    ).spec as { readonly template: { readonly spec: Pod }; readonly selector: { readonly matchLabels: unknown } };
    const { containers, securityContext, terminationGracePeriodSeconds } = template.spec;
    expect(securityContext.runAsNonRoot).toBe(true);
    expect(containers[0]?.securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    });
    expect(containers[0]).toMatchObject({
      livenessProbe: {},
      readinessProbe: {},
      resources: { limits: { memory: '2Gi' } },
    });
    expect(terminationGracePeriodSeconds).toBeGreaterThan(60 + 10);
    expect(of('Service')[0]?.spec['selector']).not.toEqual(selector.matchLabels);
    expect(of('PodMonitor')[0]?.spec['selector']).toEqual(selector);
  });

  it('scales workers by the asks that wait, never to none, and slowly down', () => {
    const manifests = manifestsOf(valueSets['with workers that are scaled'] ?? []);
    const scaled = manifests.filter(({ kind }) => kind === 'ScaledObject');
    expect(scaled).toHaveLength(1);
    expect(scaled[0]?.spec).toMatchObject({
      scaleTargetRef: { name: 'talk-worker' },
      minReplicaCount: 1,
      maxReplicaCount: 8,
      triggers: [{ type: 'prometheus', metricType: 'AverageValue', metadata: { threshold: '64' } }],
    });
    // Every worker reports the asks of all, under the job that the PodMonitor gives.
    const query = 'sum(max by (kind) (dramatis_asks_waiting{job="dramatis-workers"}))';
    expect(scaled[0]?.spec['triggers']).toMatchObject([{ metadata: { query } }]);
    expect(JSON.stringify(manifests.find(({ kind }) => kind === 'PodMonitor')?.spec)).toContain('"dramatis-workers"');
    const worker = manifests.find((one) => one.kind === 'Deployment' && !('strategy' in one.spec));
    expect(worker?.spec).not.toHaveProperty('replicas');
  });

  it('has the alerts of this server, for the name of the release', () => {
    const rule = manifestsOf(valueSets['scaled and watched'] ?? []).find(({ kind }) => kind === 'PrometheusRule');
    const text = JSON.stringify(rule?.spec);
    expect(text).toContain('DramatisNodeDown');
    expect(text).toContain(String.raw`job=\"talk\"`);
  });

  it.each([
    ['several nodes without a Redis', ['cluster.enabled=false'], 'replicas=1'],
    [
      'workers that are scaled by figures nobody collects',
      ['worker.enabled=true', 'worker.keda.enabled=true'],
      'serviceMonitor.enabled',
    ],
    ['a route without a gateway', ['httpRoute.enabled=true'], 'httpRoute.parentRef'],
    ['a key among the settings', ['settings.DRAMATIS_API_KEYS=app:secret'], 'is a secret'],
  ])('refuses %s, and says what to do', (_name, values, said) => {
    const { status, stderr } = helm('template', 'talk', '.', ...setsOf(values));
    expect(status).not.toBe(0);
    expect(stderr).toContain(said);
  });

  it('is checked by schemas that find faults', () => {
    expect(faultOf({ kind: 'Deployment', spec: { replicas: 'two' } })).toContain('replicas');
    expect(faultOf({ kind: 'Service', spec: { ports: [{ name: 'http' }] } })).toContain('port');
  });

  it('names settings that exist', () => {
    const settings = readFileSync(path.join(root, 'server', 'SETTINGS.md'), 'utf8');
    const named = ['values.yaml', 'templates/deployment.yaml'].flatMap(
      (file) => readFileSync(path.join(chart, file), 'utf8').match(/\bDRAMATIS_\w+/gu) ?? [],
    );
    expect(named.length).toBeGreaterThan(8);
    expect([...new Set(named)].filter((name) => !settings.includes(`\`${name}\``))).toEqual([]);
  });
});
