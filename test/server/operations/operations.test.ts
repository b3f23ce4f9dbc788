import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../server/config/config.ts';
import { openAskFigures } from '../../../eval/worker/ask-figures.ts';
import { LiveSessions } from '../../../server/http/live-sessions.ts';
import { openMetrics } from '../../../server/telemetry/metrics.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const folder = path.join(root, 'server', 'operations');
const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8');
const isInstalled = (program: string, flag: string): boolean => spawnSync(program, [flag]).status === 0;

/** The names of all samples that a node or a worker can have. */
async function samples(): Promise<ReadonlySet<string>> {
  const sessions = new LiveSessions(readConfig({ flags: {}, environment: {} }));
  const node = { unkept: 0, fenced: 0, moved: 0, relayed: 0, resumes: {} };
  const metrics = openMetrics({ engines: () => [], sessions, watchesVoices: true, node });
  const text = `${await metrics.text()}${await openAskFigures().text()}`;
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gmu)];
  return new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

const metric = /\b(?:dramatis|nodejs|process)_\w+/gu;

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly expr: string; readonly refId: string }[];
}

const dashboards = readdirSync(path.join(folder, 'grafana', 'dashboards')).map((file) => ({
  file,
  ...(JSON.parse(read(path.join('grafana', 'dashboards', file))) as { readonly uid: string; readonly panels: Panel[] }),
}));

describe('the files for several nodes', () => {
  it('ask only for metrics that a node has', async () => {
    const known = await samples();
    const asked = [
      ...dashboards.flatMap(({ panels }) => panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))),
      ...[...read('chart/alerts.yml').matchAll(/^ +expr: (.*)$/gmu)].map(([, expr = '']) => expr),
      ...[...read('alerts.test.yml').matchAll(/series: '([^']*)'/gu)].map(([, series = '']) => series),
    ];
    const names = new Set(asked.flatMap((expr) => expr.match(metric) ?? []));
    expect(names.size).toBeGreaterThan(20);
    expect([...names].filter((name) => !known.has(name))).toEqual([]);
  });

  it('show each figure once, on panels that do not overlap', () => {
    expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(dashboards.length);
    for (const { panels } of dashboards) {
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
      expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
      expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length);
      for (const { gridPos, targets } of panels) {
        expect([gridPos.x % 12, gridPos.y % 8, gridPos.w, gridPos.h]).toEqual([0, 0, 12, 8]);
        expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
      }
    }
  });

  it('test every alert', () => {
    const alerts = [...read('chart/alerts.yml').matchAll(/- alert: (\w+)/gu)].map(([, name]) => name);
    const tested = [...read('alerts.test.yml').matchAll(/alertname: (\w+)\n +exp_alerts:\n +- exp_labels/gu)];
    expect(alerts.length).toBeGreaterThan(5);
    expect(new Set(tested.map(([, name]) => name))).toEqual(new Set(alerts));
  });

  it('name settings that exist, and copy files that exist', () => {
    const settings = readFileSync(path.join(root, 'server', 'SETTINGS.md'), 'utf8');
    const named = ['Dockerfile', 'compose.yaml'].flatMap((file) => read(file).match(/\bDRAMATIS_\w+/gu) ?? []);
    expect([...new Set(named)].filter((name) => !settings.includes(`\`${name}\``))).toEqual([]);
    const copied = [...read('Dockerfile').matchAll(/^COPY ([^-].*) \S+$/gmu)].flatMap(([, files = '']) =>
      files.split(' '),
    );
    const ignored = read('Dockerfile.dockerignore');
    expect(copied.length).toBeGreaterThan(6);
    expect(copied.filter((file) => !existsSync(path.join(root, file)) || !ignored.includes(`!${file}\n`))).toEqual([]);
    const mounted = [...read('compose.yaml').matchAll(/'\.\/([^:']+):/gu)].map(([, file = '']) => file);
    expect(mounted.filter((file) => !existsSync(path.join(folder, file)))).toEqual([]);
  });

  it.skipIf(!isInstalled('haproxy', '-v'))('are right for HAProxy', () => {
    const own = mkdtempSync(path.join(tmpdir(), 'dramatis-haproxy-'));
    const file = path.join(own, 'haproxy.cfg');
    // These names exist in compose only.
    writeFileSync(file, read('haproxy.cfg').replaceAll(/node-\d:8080/gu, '127.0.0.1:8081'));
    const { status, stderr } = spawnSync('haproxy', ['-c', '-V', '-f', file], { encoding: 'utf8' });
    rmSync(own, { recursive: true });
    expect(stderr).not.toMatch(/WARNING|ALERT/u);
    expect(status).toBe(0);
  });

  it.skipIf(!isInstalled('promtool', '--version'))('are right for Prometheus: each alert fires as documented', () => {
    for (const args of [
      ['check', 'rules', 'chart/alerts.yml'],
      ['test', 'rules', 'alerts.test.yml'],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' });
      expect(`${stdout}${stderr}`).not.toMatch(/FAILED/u);
      expect(status).toBe(0);
    }
  });
});
