import type { ICruiseResult, IForbiddenRuleType } from 'dependency-cruiser'
import { beforeAll, describe, expect, it } from 'vitest'
import { cruiseProduct } from './cruise.ts'

const pure = '^packages/core/src/(session|context|policy|catalogue)/'
const ports = '^packages/core/src/ports/'
const protocol = '^packages/protocol/src/'
const holdfast = '^packages/holdfast/src/'
const platform = `${holdfast}platform/`
const files = `${holdfast}files/`
const node =
  '^(node:)?(assert|async_hooks|buffer|child_process|cluster|console|crypto|dns|events|fs|http|http2|https|module|net|os|path|perf_hooks|process|querystring|readline|stream|string_decoder|timers|tls|tty|url|util|v8|vm|worker_threads|zlib|sqlite)($|/)'
const vendor = '^node_modules/(?!@holdfast/)'

/** Whoever is in `from` may import these, and itself, and nothing else. */
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
  may('protocol-stands-alone', protocol, '^node_modules/zod/'),
  may('pure-core-is-pure', pure, protocol, ports),
  {
    name: 'pure-core-knows-ports-by-type-only',
    severity: 'error',
    from: { path: pure },
    to: { path: ports, dependencyTypesNot: ['type-only'] },
  },
  may('ports-know-only-words', ports, protocol),
  may('runtime-knows-no-adapter', '^packages/core/src/runtime/', pure, ports, protocol, node),
  may('core-knows-no-adapter', '^packages/core/src/', protocol, node),
  may('client-knows-only-words', '^packages/client/src/', protocol),
  may('web-knows-client-and-words', '^packages/web/src/', protocol, '^packages/client/src/', vendor),
  may('platform-is-the-floor', platform, ports, protocol, node),
  may('files-stand-on-the-platform', files, platform, protocol, node),
  may('store-knows-ports', `${holdfast}store/`, platform, files, ports, protocol, node, vendor),
  // What both forms need lies beside them; a mirror is made of one in the form of the other.
  ...[
    ['plain-files-know-no-sqlite', 'jsonl', 'sqlite'],
    ['sqlite-knows-no-plain-files', 'sqlite', 'jsonl'],
  ].map(
    ([name, form, other]): IForbiddenRuleType => ({
      name: name ?? '',
      severity: 'error',
      from: { path: `${holdfast}store/(${form}|blobs|memory|search)/` },
      to: { path: `${holdfast}store/${other}/` },
    }),
  ),
  may('providers-know-ports', `${holdfast}providers/`, platform, files, ports, protocol, node, vendor),
  may('config-knows-words', `${holdfast}config/`, platform, protocol, node, '^node_modules/zod/'),
  may('tools-know-ports', `${holdfast}tools/`, platform, ports, protocol, node, vendor),
  may('images-know-ports', `${holdfast}images/`, ports, protocol, '^node_modules/sharp/'),
  // It runs a part of core on another thread, over the store's file: the one adapter that stands on another.
  may(
    'requests-know-the-store',
    `${holdfast}requests/`,
    '^packages/core/src/runtime/requests[.]ts$',
    `${holdfast}store/(blobs/file-blobs|sqlite/sqlite-reader)[.]ts$`,
    ports,
    protocol,
    node,
  ),
  may('instructions-know-ports', `${holdfast}instructions/`, platform, ports, protocol, node),
  may('telemetry-knows-ports', `${holdfast}telemetry/`, ports, protocol, '^node_modules/@opentelemetry/api/'),
  may('logging-knows-ports', `${holdfast}logging/`, platform, ports, protocol, node, '^node_modules/pino/'),
  may('memory-knows-files', `${holdfast}memory/`, platform, files, protocol, node),
  may('node-knows-ports', `${holdfast}node/`, files, ports, protocol, node, '^node_modules/uuidv7/'),
  may('identity-knows-words', `${holdfast}identity/`, protocol, node, '^node_modules/uuidv7/'),
  may(
    'export-knows-core-by-its-index',
    `${holdfast}export/`,
    '^packages/core/src/index[.]ts$',
    `${holdfast}store/jsonl/line[.]ts$`,
    ports,
    protocol,
    node,
  ),
  may(
    'import-knows-core-by-its-index',
    `${holdfast}import/`,
    '^packages/core/src/index[.]ts$',
    `${holdfast}export/jsonl[.]ts$`,
    `${holdfast}store/jsonl/line[.]ts$`,
    ports,
    protocol,
    node,
  ),
  may(
    'conversation-knows-core-by-its-index',
    `${holdfast}conversation/`,
    '^packages/core/src/index[.]ts$',
    ports,
    protocol,
    node,
    '^node_modules/zod/',
  ),
  may(
    'storage-knows-stores',
    `${holdfast}storage/`,
    '^packages/core/src/index[.]ts$',
    `${holdfast}store/`,
    `${holdfast}node/`,
    `${holdfast}home[.]ts$`,
    platform,
    ports,
    protocol,
    node,
  ),
  ...['doctor', 'backup', 'migrate', 'stats'].map((folder) =>
    may(
      `${folder}-knows-storage`,
      `${holdfast}${folder}/`,
      '^packages/core/src/index[.]ts$',
      `${holdfast}(storage|store|node)/`,
      platform,
      files,
      ports,
      protocol,
      node,
    ),
  ),
  {
    // What only one form of store knows of its files stands behind its `StoreUpkeep`.
    name: 'doctor-and-backup-know-no-form-of-store',
    severity: 'error',
    from: { path: `${holdfast}(doctor|backup)/` },
    to: { path: `${holdfast}store/(sqlite|jsonl)/` },
  },
  may(
    'upkeep-knows-what-is-kept-up',
    `${holdfast}upkeep/`,
    `${holdfast}(doctor|backup|migrate|stats|storage)/`,
    `${holdfast}home[.]ts$`,
    ports,
    protocol,
    node,
  ),
  may(
    'server-knows-core-by-its-index',
    `${holdfast}server/`,
    '^packages/core/src/index[.]ts$',
    `${holdfast}logging/logger[.]ts$`,
    platform,
    files,
    ports,
    protocol,
    node,
    vendor,
  ),
  {
    name: 'only-the-root-imports-everything',
    severity: 'error',
    // Beside it two smaller roots, for commands that need no store: what models there are, and their keys.
    from: { pathNot: [`${holdfast}(open|open-models|keys)[.]ts$`, `${holdfast}(providers|tools|images)/`] },
    to: { path: `${holdfast}(providers|tools|images)/` },
  },
  {
    name: 'cli-comes-through-the-door',
    severity: 'error',
    // `serve` is the command that is a server; no other one is.
    from: { path: `${holdfast}cli/`, pathNot: `${holdfast}cli/commands/serve[.]ts$` },
    to: { path: [`${holdfast}(providers|tools|server)/`, pure, '^packages/core/src/runtime/'] },
  },
  {
    name: 'testkit-stays-in-tests',
    severity: 'error',
    from: { pathNot: ['^packages/testkit/', `${holdfast}testkit[.]ts$`] },
    to: { path: '^packages/testkit/' },
  },
]

describe('the layers', () => {
  let seen: ICruiseResult

  beforeAll(async () => {
    seen = await cruiseProduct(rules)
  })

  it('are really looked at', () => {
    const sources = seen.modules.map(({ source }) => source)
    for (const one of ['core/src/session/decide', 'protocol/src/event/event', 'holdfast/src/open', 'client/src/index'])
      expect(sources).toContain(`packages/${one}.ts`)
    const decide = seen.modules.find(({ source }) => source === 'packages/core/src/session/decide.ts')
    expect(decide?.dependencies.map(({ resolved }) => resolved)).toContain('packages/protocol/src/index.ts')
  })

  /** What is loaded with a file: without the imports of types, which are gone by then. */
  function loadedWith(entry: string, lazily: boolean, without?: string): ReadonlySet<string> {
    const loaded = new Set<string>()
    const waiting = [entry]
    for (let source = waiting.pop(); source !== undefined; source = waiting.pop()) {
      if (loaded.has(source) || source === without) continue
      loaded.add(source)
      const imports = seen.modules.find((module) => module.source === source)?.dependencies ?? []
      for (const { resolved, dependencyTypes, dynamic } of imports)
        if (!dependencyTypes.includes('type-only') && (lazily || !dynamic)) waiting.push(resolved)
    }
    return loaded
  }

  const withZod = (loaded: ReadonlySet<string>) => [...loaded].filter((source) => source.includes('node_modules/zod/'))

  it.each([
    ['the program before a command is chosen', 'cli/main', false],
    ['ls', 'cli/commands/ls', true],
    ['the writer', 'store/sqlite/writer-worker', true],
    ['the reader', 'store/sqlite/reader-worker', true],
  ])('let %s start without zod', (_, file, lazily) => {
    // Of plain files alone, rows that the catalogue lacks are folded, and that takes all of core.
    const loaded = loadedWith(
      `packages/holdfast/src/${file}.ts`,
      lazily,
      'packages/holdfast/src/storage/folding-source.ts',
    )
    expect(loaded.size).toBeGreaterThan(8)
    expect(loaded).toContain('packages/protocol/src/fault.ts')
    expect(withZod(loaded)).toEqual([])
  })

  it('load sharp with the first image, and not before', () => {
    const loads = (lazily: boolean) =>
      [...loadedWith('packages/holdfast/src/open.ts', lazily)].some((source) => source.includes('node_modules/sharp/'))
    expect([loads(false), loads(true)]).toEqual([false, true])
  })

  it('load pino for whoever logs, and for nobody else', () => {
    const loads = (file: string, lazily: boolean) =>
      [...loadedWith(`packages/holdfast/src/${file}.ts`, lazily)].some((source) =>
        source.includes('node_modules/pino/'),
      )
    expect(['open', 'cli/main', 'server/index'].map((file) => loads(file, false))).toEqual([false, false, false])
    expect(loads('cli/command-log', true)).toBe(true)
  })

  it('see zod where it is', () => {
    expect(withZod(loadedWith('packages/holdfast/src/open.ts', false))).not.toEqual([])
  })

  it.each(rules.map(({ name }) => name ?? ''))('%s', (name) => {
    const broken = seen.summary.violations.filter(({ rule }) => rule.name === name)
    expect(broken.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })
})
