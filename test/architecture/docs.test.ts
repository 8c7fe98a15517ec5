import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { commandTypes, faultStatus } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import type { CommandSpec, FlagSpec } from '../../packages/holdfast/src/cli/args/command-spec.ts'
import { commandSpecs } from '../../packages/holdfast/src/cli/commands.ts'
import { tuiSpec } from '../../packages/holdfast/src/cli/tui/spec.ts'
import { presets } from '../../packages/holdfast/src/providers/services/presets.ts'
import { routes } from '../../packages/holdfast/src/server/routes/routes.ts'
import { Config } from '../../packages/holdfast/src/system/config/config.ts'
import { renderConfigSchema } from '../../scripts/write-config-schema.ts'
import { renderEventsDoc } from '../../scripts/write-events-doc.ts'
import { renderHooksSchema } from '../../scripts/write-hooks-schema.ts'
import { manPagePath, renderManPage } from '../../scripts/write-man-page.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const documents = ['*.md', 'docs/**/*.md', 'packages/*/README.md', 'examples/*.md'].flatMap((pattern) =>
  globSync(pattern, { cwd: root }),
)

describe('docs/events.md', () => {
  it('matches the schemas (run scripts/write-events-doc.ts after a change)', () => {
    expect(read('docs/events.md')).toBe(renderEventsDoc())
  })
})

describe('the manual page', () => {
  it('matches the specs of the commands (run scripts/write-man-page.ts after a change)', () => {
    expect(readFileSync(manPagePath, 'utf8')).toBe(renderManPage())
  })

  it('begins with the terminal UI, and names its flags and the version', () => {
    const [synopsis = '', ui = ''] =
      renderManPage().replaceAll('\\-', '-').split('.SH COMMANDS')[0]?.split('.SH TERMINAL UI') ?? []
    expect(synopsis).toContain('.B holdfast\n[\\fB-c\\fR | \\fB-r\\fR | \\fIsession\\fR] [flags]\n')
    const flags = Object.entries<FlagSpec>(tuiSpec.flags).map(
      ([name, { short }]) => `${short ? `-${short}, ` : ''}--${name}`,
    )
    expect(flags.filter((flag) => !ui.includes(`.B ${flag}`))).toEqual([])
    expect(renderManPage()).toContain('.B version')
  })
})

describe('docs/config.md', () => {
  it('names every key', () => {
    expect(Object.keys(Config.shape).filter((key) => !read('docs/config.md').includes(`\`${key}\``))).toEqual([])
  })

  it('matches the published schema (run scripts/write-config-schema.ts after a change)', () => {
    expect(read('docs/config.schema.json')).toBe(renderConfigSchema())
  })

  it('has the schemas of what hooks get (run scripts/write-hooks-schema.ts after a change)', () => {
    expect(read('docs/hooks.schema.json')).toBe(renderHooksSchema())
  })
})

describe('docs/models.md', () => {
  it('has a row for every preset, with its variables and address', () => {
    const text = read('docs/models.md')
    const missing = presets.filter(({ name, keyNames, baseUrlNames, baseUrl }) => {
      const row = text.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? ''
      return [...keyNames, ...baseUrlNames, baseUrl].some((word) => !row.includes(`\`${word}\``))
    })
    expect(missing.map(({ name }) => name)).toEqual([])
  })
})

describe('docs/logging.md', () => {
  it('has a row for every message of the log', () => {
    const sources = globSync('packages/holdfast/src/{observe,server,cli}/**/*.ts', { cwd: root })
    const messages = sources
      .filter((path) => !path.includes('.test.') && !path.includes('/testing/'))
      .flatMap((path) => [...read(path).matchAll(/logger\??[.[][^\n]*, '([a-z ]+)'\)/g)].map(([, text = '']) => text))
    expect(messages.filter((text) => !read('docs/logging.md').includes(`\`${text}\``))).toEqual([])
    expect(messages.length).toBeGreaterThan(10)
  })
})

describe('docs/errors.md', () => {
  const rows = [...read('docs/errors.md').matchAll(/^\| `([a-z_]+)` \| (\d{3}) \| (.+) \| (.+) \|$/gm)]

  it('has exactly one row per fault code, with its status', () => {
    expect(rows.map(([, code, status]) => [code, Number(status)])).toEqual(Object.entries(faultStatus))
  })

  it('says when each code occurs and what to do', () => {
    expect(rows.flatMap(([, code, , when = '', remedy = '']) => (when && remedy ? [] : [code]))).toEqual([])
  })
})

describe('docs/cli.md', () => {
  const text = read('docs/cli.md')
  const specs: readonly (readonly [string, CommandSpec])[] = Object.entries(commandSpecs)

  it('names every command and every flag', () => {
    const missing = specs.flatMap(([name, { flags, positionals = [] }]) => [
      ...(text.includes(`| \`${[name, ...positionals].join(' ')}\` |`) ? [] : [name]),
      ...Object.keys(flags).filter((flag) => !new RegExp(`\`--${flag}[ \`]`).test(text)),
    ])
    expect(missing).toEqual([])
  })
})

describe('docs/http.md', () => {
  const text = read('docs/http.md')

  it('has exactly one row per route, with its access', () => {
    const rows = [
      ...text.matchAll(
        /^\| `(GET|POST|DELETE) ([^`?]+)(?:\?[^`]*)?` \|.*\| (open|(?:viewer|driver|admin)(?:, one session(?: from driver)?)?) \|$/gm,
      ),
    ]
    expect(rows.map(([, method, path, access]) => ({ method, path, access }))).toEqual(
      routes.map(({ method, path, access: { role, bound } }) => {
        const oneSession = bound === null ? '' : bound === role ? ', one session' : `, one session from ${bound}`
        return { method, path, access: `${role}${oneSession}` }
      }),
    )
  })

  it('names every command', () => {
    expect(commandTypes.filter((type) => !text.includes(`\`${type}\``))).toEqual([])
  })
})

describe('ARCHITECTURE.md', () => {
  it('lists exactly the import rules that imports.test.ts checks', () => {
    const [, section = ''] = /\n## Import rules\n([\s\S]*?)\n## /.exec(read('ARCHITECTURE.md')) ?? []
    const listed = [...section.matchAll(/^- (.+?): /gm)].flatMap(([, names = '']) => names.split(', '))
    const [rules = ''] = read('test/architecture/imports.test.ts').split(/^describe\(/m)
    const checked = [...rules.matchAll(/(?:\bmay\(\s*|\bname: |^ {4}\[)'([a-z-]+)'/gm)].map(([, name]) => `\`${name}\``)
    expect(listed.toSorted()).toEqual(checked.toSorted())
    expect(checked.length).toBeGreaterThan(20)
  })
})

describe('docs/decisions/README.md', () => {
  it('lists every decision with its title', () => {
    const listed = [...read('docs/decisions/README.md').matchAll(/^\| \[(\d{4})\]\((.+)\) \| (.+) \|$/gm)]
    const files = globSync('docs/decisions/0*.md', { cwd: root }).toSorted()
    const rows = listed.map(([, number, file, title]) => [`docs/decisions/${file}`, `# ${number} ${title}`])
    expect(rows).toEqual(files.map((file) => [file, read(file).split('\n')[0]]))
  })
})

describe('every document', () => {
  it('is found', () => {
    expect(documents.length).toBeGreaterThan(20)
  })

  it('links to files that exist', () => {
    const broken = documents.flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:|mailto:|#)([^)\s#]+)(?:#[^)\s]*)?\)/g)].flatMap(([, target = '']) =>
        existsSync(join(root, dirname(path), target)) ? [] : [`${path}: ${target}`],
      ),
    )
    expect(broken).toEqual([])
  })

  it('links to headings that exist', () => {
    const slugOf = (heading: string) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-')
    const hasHeading = (path: string, slug: string) =>
      [...read(path).matchAll(/^#+ (.+)$/gm)].some(([, heading = '']) => slugOf(heading) === slug)
    const broken = documents.flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:)([^)\s#]*)#([^)\s]+)\)/g)].flatMap(([, target = '', slug = '']) =>
        hasHeading(target === '' ? path : join(dirname(path), target), slug) ? [] : [`${path}: ${target}#${slug}`],
      ),
    )
    expect(broken).toEqual([])
  })

  it('names files of the repo that exist', () => {
    const named = documents.flatMap((path) =>
      [...read(path).matchAll(/`((?:packages|scripts|test|docs)\/[\w./-]+)`/g)].map(([, file = '']) => ({
        path,
        file,
      })),
    )
    expect(named.filter(({ file }) => !existsSync(join(root, file)))).toEqual([])
    expect(named.length).toBeGreaterThan(10)
  })

  it.each(globSync('packages/*/README.md', { cwd: root }))('names files of its package that exist: %s', (path) => {
    const named = [...read(path).matchAll(/`(src\/[\w./-]+)`/g)].map(([, file = '']) => file)
    expect(named.filter((file) => !existsSync(join(root, dirname(path), file)))).toEqual([])
    expect(named).not.toEqual([])
  })

  it('keeps AGENTS.md within 150 lines', () => {
    expect(read('AGENTS.md').split('\n').length).toBeLessThanOrEqual(150)
  })
})
