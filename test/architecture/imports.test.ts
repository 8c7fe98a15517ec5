import type { ICruiseResult, IForbiddenRuleType } from 'dependency-cruiser'
import { beforeAll, describe, expect, it } from 'vitest'
import { cruiseProduct } from './cruise.ts'

const pure = '^packages/core/src/(session|context|policy)/'
const ports = '^packages/core/src/ports/'
const protocol = '^packages/protocol/src/'
const holdfast = '^packages/holdfast/src/'
const coreIndex = '^packages/core/src/index[.]ts$'
const system = `${holdfast}system/`
const node =
  '^(node:)?(assert|async_hooks|buffer|child_process|cluster|console|crypto|dns|events|fs|http|http2|https|module|net|os|path|perf_hooks|process|querystring|readline|stream|string_decoder|timers|tls|tty|url|util|v8|vm|worker_threads|zlib|sqlite)($|/)'
const vendor = '^(packages/holdfast/)?node_modules/(?!@holdfast/)' // npm nests a version that another package also needs

/** Files below `from` may import these, each other, and nothing else. */
const may = (name: string, from: string, ...allowed: readonly string[]): IForbiddenRuleType => ({
  name,
  severity: 'error',
  from: { path: from },
  to: { pathNot: [from, ...allowed] },
})

const rules: readonly IForbiddenRuleType[] = [
  {
    name: 'no-cycles',
    severity: 'error',
    from: {},
    to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
  },
  { name: 'everything-is-found', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '[.]css$' } },
  may('protocol-imports-only-zod', protocol, '^node_modules/zod/'),
  may('pure-core-is-pure', pure, protocol, ports),
  {
    name: 'pure-core-imports-ports-as-types',
    severity: 'error',
    from: { path: pure },
    to: { path: ports, dependencyTypesNot: ['type-only'] },
  },
  may('ports-import-only-protocol', ports, protocol),
  may('runtime-imports-no-adapter', '^packages/core/src/runtime/', pure, ports, protocol, node),
  may('core-imports-no-adapter', '^packages/core/src/', protocol, node),
  may(
    'client-imports-only-protocol',
    '^packages/client/src/',
    protocol,
    '^node_modules/(eventsource-parser|marked|highlight[.]js)/',
  ),
  may('web-imports-client-and-protocol', '^packages/web/src/', protocol, '^packages/client/src/', vendor),
  may('system-is-the-lowest-layer', system, ports, protocol, node, '^node_modules/(zod|uuidv7)/'),
  // Only what opens a store may know the log fold in core: reading a list must not load it.
  may('stores-import-ports', `${holdfast}store/(?!open/)`, system, ports, protocol, node, vendor),
  may(
    'store-open-imports-stores',
    `${holdfast}store/open/`,
    `${holdfast}store/`,
    coreIndex,
    system,
    ports,
    protocol,
    node,
  ),
  // Shared code lies beside the stores; a mirror copies one into the form of the other.
  ...[
    ['jsonl-imports-no-sqlite', 'jsonl', 'sqlite'],
    ['sqlite-imports-no-jsonl', 'sqlite', 'jsonl'],
    ['postgres-imports-no-sqlite', 'postgres', 'sqlite'],
    ['postgres-imports-no-jsonl', 'postgres', 'jsonl'],
    ['sqlite-imports-no-postgres', 'sqlite', 'postgres'],
  ].map(
    ([name, form, other]): IForbiddenRuleType => ({
      name: name ?? '',
      severity: 'error',
      from: { path: `${holdfast}store/(${form}|blobs|memory|search)/` },
      to: { path: `${holdfast}store/${other}/` },
    }),
  ),
  may('providers-import-ports', `${holdfast}providers/`, system, ports, protocol, node, vendor),
  may('tools-import-ports', `${holdfast}tools/(?!mcp/)`, `${holdfast}tools/`, system, ports, protocol, node, vendor),
  // The servers of a workspace count once they are trusted.
  may(
    'mcp-asks-trust',
    `${holdfast}tools/mcp/`,
    `${holdfast}(tools/(define|program)/|tools/files/io/guarded-path[.]ts$|trust/(named-files|offer)[.]ts$)`,
    system,
    ports,
    protocol,
    node,
    vendor,
  ),
  may(
    'context-imports-ports',
    `${holdfast}context/(?!requests/)`,
    `${holdfast}(guidance|trust)/`,
    system,
    ports,
    protocol,
    node,
    '^node_modules/sharp/',
  ),
  may(
    'guidance-imports-files',
    `${holdfast}guidance/instructions/`,
    `${holdfast}guidance/[\\w-]+[.]ts$`,
    system,
    protocol,
    node,
  ),
  may('front-matter-imports-yaml', `${holdfast}guidance/front-matter/`, '^node_modules/yaml/'),
  // What a workspace offers of skills, commands and agents counts once it is trusted.
  may(
    'guidance-asks-trust',
    `${holdfast}guidance/(?!instructions/|front-matter/)`,
    `${holdfast}(guidance|trust)/`,
    system,
    ports,
    protocol,
    node,
  ),
  may('trust-imports-files', `${holdfast}trust/`, system, protocol, node, vendor),
  // A hook is a program, and its group must end with it.
  may(
    'hooks-import-ports',
    `${holdfast}hooks/`,
    `${holdfast}(trust/|tools/program/)`,
    system,
    ports,
    protocol,
    node,
    vendor,
  ),
  // It builds requests on another thread, straight from the store's file.
  may(
    'requests-read-the-store',
    `${holdfast}context/requests/`,
    '^packages/core/src/runtime/effects/request-builder[.]ts$',
    `${holdfast}store/(blobs/file-blobs|sqlite/read/(reader|read-methods))[.]ts$`,
    `${holdfast}system/start-thread[.]ts$`,
    ports,
    protocol,
    node,
  ),
  may(
    'observers-import-ports',
    `${holdfast}observe/`,
    system,
    ports,
    protocol,
    node,
    '^node_modules/(pino|@opentelemetry/api)/',
  ),
  may(
    'transfer-imports-the-core-index',
    `${holdfast}transfer/`,
    coreIndex,
    // The thread of an import opens its own adapters.
    `${holdfast}system/(identity|start-thread|wall-clock|files/resolve-path)[.]ts$`,
    `${holdfast}store/jsonl/log/log-line[.]ts$`,
    // It also writes to a SQLite store past the main thread.
    `${holdfast}store/sqlite/worker/(port-writer|worker-link)[.]ts$`,
    '^packages/client/src/markdown/',
    ports,
    protocol,
    node,
    vendor,
  ),
  may(
    'conversations-import-the-core-index',
    `${holdfast}conversations/`,
    coreIndex,
    '^packages/client/src/internal[.]ts$',
    ports,
    protocol,
    node,
    '^node_modules/zod/',
  ),
  may('admin-imports-stores', `${holdfast}admin/`, coreIndex, `${holdfast}store/`, system, ports, protocol, node),
  {
    // A store's own files stand behind its `StoreAdmin`.
    name: 'doctor-and-backup-import-no-single-store',
    severity: 'error',
    from: { path: `${holdfast}admin/(doctor|backup)/` },
    to: { path: `${holdfast}store/(sqlite|jsonl)/` },
  },
  may('tokens-import-ports', `${holdfast}tokens/`, ports, protocol, node),
  may(
    'server-imports-the-core-index',
    `${holdfast}server/`,
    coreIndex,
    `${holdfast}observe/logging/logger[.]ts$`,
    `${holdfast}nodes/carried-bearer[.]ts$`,
    `${holdfast}tokens/`,
    system,
    ports,
    protocol,
    node,
    vendor,
  ),
  may(
    'nodes-import-the-core-index',
    `${holdfast}nodes/`,
    coreIndex,
    '^packages/client/src/(index|internal|http/decode-stream)[.]ts$',
    `${holdfast}tokens/`,
    system,
    ports,
    protocol,
    node,
  ),
  {
    name: 'only-the-composition-root-imports-adapters',
    severity: 'error',
    // The room of open.ts has smaller roots for commands that need no store: models, keys and rules. The entry points
    // name public types.
    from: {
      pathNot: [
        `${holdfast}(open|open/[\\w-]+|entry/\\w+)[.]ts$`,
        `${holdfast}(providers|tools|context)/`,
        `${holdfast}hooks/`, // has a rule of its own
      ],
    },
    to: { path: `${holdfast}(providers|tools|context)/` },
  },
  {
    name: 'cli-imports-no-adapter',
    severity: 'error',
    // `serve` starts the server; no other command does.
    from: { path: `${holdfast}cli/`, pathNot: `${holdfast}cli/commands/program/serve[.]ts$` },
    to: {
      path: [`${holdfast}(providers|tools|server)/`, pure, '^packages/core/src/runtime/'],
      pathNot: '/waiting-children[.]ts$', // an entry of core of its own, so that `ls` loads no more of it
    },
  },
  {
    // An optional peer: everything else must load without it.
    name: 'only-telemetry-imports-opentelemetry',
    severity: 'error',
    from: { pathNot: [`${holdfast}observe/telemetry/`, '^node_modules/'] },
    to: { path: '^node_modules/@opentelemetry/' },
  },
  {
    name: 'only-tests-import-the-testkit',
    severity: 'error',
    from: { pathNot: ['^packages/testkit/', `${holdfast}entry/testkit[.]ts$`] },
    to: { path: '^packages/testkit/' },
  },
]

describe('imports', () => {
  let seen: ICruiseResult

  beforeAll(async () => {
    seen = await cruiseProduct(rules)
  })

  it('are read from real modules', () => {
    const sources = seen.modules.map(({ source }) => source)
    for (const one of ['core/src/session/decide', 'protocol/src/event/event', 'holdfast/src/open', 'client/src/index'])
      expect(sources).toContain(`packages/${one}.ts`)
    const decide = seen.modules.find(({ source }) => source === 'packages/core/src/session/decide.ts')
    expect(decide?.dependencies.map(({ resolved }) => resolved)).toContain('packages/protocol/src/index.ts')
  })

  /** Returns the modules that load with a file; type imports do not load. */
  function loadedWith(entry: string, lazily: boolean, without: readonly string[] = []): ReadonlySet<string> {
    const loaded = new Set<string>()
    const waiting = [entry]
    for (let source = waiting.pop(); source !== undefined; source = waiting.pop()) {
      if (loaded.has(source) || without.includes(source)) continue
      loaded.add(source)
      const imports = seen.modules.find((module) => module.source === source)?.dependencies ?? []
      for (const { resolved, dependencyTypes, dynamic } of imports)
        if (!dependencyTypes.includes('type-only') && (lazily || !dynamic)) waiting.push(resolved)
    }
    return loaded
  }

  const withZod = (loaded: ReadonlySet<string>) => [...loaded].filter((source) => source.includes('node_modules/zod/'))

  it.each([
    ['the program, before it loads a command,', 'cli/main', false],
    ['ls', 'cli/commands/session/ls', true],
    ['the writer', 'store/sqlite/worker/writer-worker', true],
    ['the reader', 'store/sqlite/worker/reader-worker', true],
  ])('let %s start without zod', (_, file, lazily) => {
    // Only JSONL stores fold rows that their catalogue lacks, which loads all of core. Only --url loads the client, and only
    // an export opens blobs.
    const loaded = loadedWith(`packages/holdfast/src/${file}.ts`, lazily, [
      'packages/holdfast/src/store/open/jsonl-entries.ts',
      'packages/holdfast/src/cli/sessions/remote.ts',
      'packages/holdfast/src/store/open/open-blobs.ts',
    ])
    expect(loaded.size).toBeGreaterThan(8)
    expect(loaded).toContain('packages/protocol/src/value/fault.ts')
    expect(withZod(loaded)).toEqual([])
  })

  it.each([
    ['sharp', 'open'],
    ['@opentelemetry/api', 'open'],
    ['@holdfast/testkit', 'entry/testkit'],
  ])('load the optional package %s dynamically', (name, file) => {
    const folder = name === '@holdfast/testkit' ? 'packages/testkit/' : `node_modules/${name}/`
    const loads = (lazily: boolean) =>
      [...loadedWith(`packages/holdfast/src/${file}.ts`, lazily)].some((source) => source.includes(folder))
    expect([loads(false), loads(true)]).toEqual([false, true])
  })

  it('load pino only in commands that write a log', () => {
    const loads = (file: string, lazily: boolean) =>
      [...loadedWith(`packages/holdfast/src/${file}.ts`, lazily)].some((source) =>
        source.includes('node_modules/pino/'),
      )
    expect(['open', 'cli/main', 'server/index'].map((file) => loads(file, false))).toEqual([false, false, false])
    expect(loads('cli/program', true)).toBe(true)
  })

  it('find zod where it is imported', () => {
    expect(withZod(loadedWith('packages/holdfast/src/open.ts', false))).not.toEqual([])
  })

  it.each(rules.map(({ name }) => name ?? ''))('%s', (name) => {
    const broken = seen.summary.violations.filter(({ rule }) => rule.name === name)
    expect(broken.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })
})
