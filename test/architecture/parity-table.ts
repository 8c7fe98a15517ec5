import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createSession } from '@holdfast/client'
import * as protocol from '@holdfast/protocol'
import { z } from 'zod'
import { isCommandName } from '../../packages/holdfast/src/cli/commands.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

export type ParityRow = {
  readonly section: string
  readonly ancestor: string
  readonly holdfast: string
  readonly reached: string
  readonly shown: string
}

/** The rows of docs/parity.md, each with its section. */
export function readParityTable(): readonly ParityRow[] {
  let section = ''
  return read('docs/parity.md')
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('## ')) section = line.slice(3)
      if (!line.startsWith('| `')) return []
      const cells = line.split('|').map((cell) => cell.trim())
      const [, ancestor = '', holdfast = '', reached = '', shown = '', ...rest] = cells
      if (rest.length !== 1 || rest[0] !== '') throw new Error(`not four cells: ${line}`)
      return [{ section, ancestor: ancestor.replaceAll('`', ''), holdfast, reached, shown }]
    })
}

/** Every type, field and function of the ancestors, as `section: name`. */
export function readAncestorNames(): readonly string[] {
  let section = ''
  return read('docs/parity-names.txt')
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('# ')) section = line.slice(2)
      return line === '' || line.startsWith('#') ? [] : [`${section}: ${line}`]
    })
}

/** Returns why a test named as `path › title` proves nothing, or null if it exists. */
export function whyNoProof(proof: string): string | null {
  const [path = '', title = '', ...rest] = proof.split(' › ')
  if (title === '' || rest.length > 0) return `not of the form path › title: ${proof}`
  if (!/\.test\.tsx?$|\/contracts\//.test(path) || !existsSync(join(root, path))) return `there is no test file ${path}`
  return isTestTitle(read(path), title) ? null : `${path} has no test “${title}”`
}

/** Returns whether `title` is the name of an `it(…)` or `it.each(…)(…)`; a quoted string elsewhere does not count. */
function isTestTitle(source: string, title: string): boolean {
  const quoted = [`'${title.replaceAll("'", "\\'")}'`, `"${title}"`, `\`${title}\``]
  return quoted.some((text) => {
    for (let at = source.indexOf(text); at !== -1; at = source.indexOf(text, at + 1)) {
      const before = source.slice(0, at).trimEnd()
      if (/\bit\($/.test(before) || (before.endsWith(')(') && isCallOfEach(before.slice(0, -1)))) return true
    }
    return false
  })
}

/** Returns whether the text ends with a call of `it.each`, found by matching its last parenthesis. */
function isCallOfEach(text: string): boolean {
  let depth = 0
  for (let at = text.length - 1; at >= 0; at--) {
    if (text[at] === ')') depth++
    if (text[at] === '(' && --depth === 0) return /\bit\.each(?:<[^()]*>)?$/.test(text.slice(0, at))
  }
  return false
}

const sources = globSync('packages/*/src/**/*.ts', { cwd: root })
  .filter((path) => !path.includes('.test.'))
  .map(read)
const exported: ReadonlyMap<string, unknown> = new Map(Object.entries(protocol))

const handle: protocol.SessionHandle = {
  id: protocol.SessionId.parse('ses_00000000000000000000000000'),
  submit: () => Promise.reject(new Error('never asked')),
  attach: () => Promise.reject(new Error('never asked')),
  snapshot: () => Promise.reject(new Error('never asked')),
  state: () => Promise.reject(new Error('never asked')),
  page: () => Promise.reject(new Error('never asked')),
  fileChanges: () => Promise.reject(new Error('never asked')),
  diffChanges: () => Promise.reject(new Error('never asked')),
  previewRestore: () => Promise.reject(new Error('never asked')),
  clientEvents: () => Promise.reject(new Error('never asked')),
  instructionFiles: () => Promise.reject(new Error('never asked')),
  boundaries: () => Promise.reject(new Error('never asked')),
  backgroundShells: () => Promise.reject(new Error('never asked')),
  readFile: () => Promise.reject(new Error('never asked')),
  servers: () => Promise.reject(new Error('never asked')),
  skills: () => Promise.reject(new Error('never asked')),
  commands: () => Promise.reject(new Error('never asked')),
  branches: () => Promise.reject(new Error('never asked')),
  blob: () => Promise.reject(new Error('never asked')),
  models: () => Promise.reject(new Error('never asked')),
  subagents: () => Promise.reject(new Error('never asked')),
  subagentContext: () => Promise.reject(new Error('never asked')),
  treeUsage: () => Promise.reject(new Error('never asked')),
  async *subscribe() {},
}
const session = createSession(handle)

/** Returns the lines between the braces of the declarations of a type. */
function bodiesOfType(name: string): string {
  const declared = new RegExp(`^(?:export )?(?:type|interface) ${name}\\b[^\\n]*\\{\\n([\\s\\S]*?)^\\}`, 'm')
  return sources.flatMap((source) => declared.exec(source)?.[1] ?? []).join('')
}

function typeHas(name: string, field: string): boolean {
  const schema = exported.get(name)
  if (schema instanceof z.ZodObject) return field in schema.shape
  if (schema instanceof z.ZodEnum) return schema.options.includes(field)
  return new RegExp(`^  (?:readonly )?${field}\\??[:(]`, 'm').test(bodiesOfType(name))
}

/** Returns the names a module exports, re-exports included. */
function exportsOf(path: string): readonly string[] {
  const source = read(path)
  const passedOn = [...source.matchAll(/^export \* from '@holdfast\/(\w+)'$/gm)]
  const fromFile = [...source.matchAll(/^export type \* from '@holdfast\/(\w+)\/public-types'$/gm)]
  const named = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)]
  return [
    ...passedOn.flatMap(([, folder = '']) => entryPoints(folder).flatMap(exportsOf)),
    ...fromFile.flatMap(([, folder = '']) => exportsOf(join('packages', folder, 'src/public-types.ts'))),
    ...named.flatMap(([, names = '']) => names.split(',').map((name) => name.trim().replace(/^type /, ''))),
  ]
}

/** The modules a program may import. The testkit is left out: it is for tests only. */
function entryPoints(folder: string): readonly string[] {
  const { exports } = z
    .object({ exports: z.record(z.string(), z.string()) })
    .parse(JSON.parse(read(`packages/${folder}/package.json`)))
  return Object.entries(exports).flatMap(([name, path]) =>
    name === './testkit' ? [] : [join('packages', folder, path)],
  )
}

/** The names that a program can import. */
export const ofLibrary: ReadonlySet<string> = new Set(entryPoints('holdfast').flatMap(exportsOf))

const isDeclared = (name: string): boolean =>
  exported.has(name) || sources.some((source) => new RegExp(`^export (?:type|interface) ${name}\\b`, 'm').test(source))

const isFunction = (name: string): boolean =>
  sources.some((source) => new RegExp(`^export (?:async )?(?:function|const) ${name}\\b`, 'm').test(source))

type Form = readonly [form: RegExp, exists: (...groups: readonly string[]) => boolean, exported?: string]

/** How each form of name is looked up. A name that matches no form is prose and is skipped. */
const forms: readonly Form[] = [
  [/^session\.(id|\w+(?=\(\)$))/, (name = '') => name in session, 'Session'],
  [
    /^holdfast\.(\w+)\(\)$/,
    (name = '') =>
      ['Holdfast', 'HoldfastMethods', 'SessionAdmin', 'StoredSessions'].some((type) => typeHas(type, name)),
    'Holdfast',
  ],
  [/^holdfast ([a-z]+)$/, (name = '') => isCommandName(name)],
  [/^([A-Z]\w+)\.(\w+)$/, (name = '', field = '') => typeHas(name, field), '$1'],
  [/^([A-Z][a-z]\w*)$/, (name = '') => isDeclared(name), '$1'],
  [/^(\w+)\(\)$/, (name = '') => isFunction(name), '$1'],
  [/^([a-z]+\.[a-z]+)$/, (name = '') => name in protocol.eventVersion, 'Frame'],
]

export type LookedUp = {
  readonly name: string
  /** The exported type or function that the name belongs to. */
  readonly exportedAs: string
  readonly exists: boolean
  /** Whether a program can import the name, or the type it belongs to. */
  readonly isOfLibrary: boolean
}

/** Returns the names in a table cell that can be looked up. */
export function lookUp(cell: string): readonly LookedUp[] {
  const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  return names.flatMap((name) => {
    for (const [form, find, exported = ''] of forms) {
      const found = form.exec(name)
      if (!found) continue
      const [, first = ''] = found
      const exportedAs = exported.replace('$1', first)
      return [{ name, exportedAs, exists: find(...found.slice(1)), isOfLibrary: ofLibrary.has(exportedAs) }]
    }
    return []
  })
}
