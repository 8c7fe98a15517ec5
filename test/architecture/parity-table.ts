import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createSession } from '@holdfast/client'
import * as protocol from '@holdfast/protocol'
import { z } from 'zod'
import { isCommandName } from '../../packages/holdfast/src/cli/command-table.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

export type ParityRow = {
  readonly section: string
  readonly ancestor: string
  readonly holdfast: string
  readonly reached: string
  readonly shown: string
}

/** The rows of docs/parity.md, each with the section it stands in. */
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

/** Why a test named as `path › title` does not show anything, or null. */
export function whyNoProof(proof: string): string | null {
  const [path = '', title = '', ...rest] = proof.split(' › ')
  if (title === '' || rest.length > 0) return `not of the form path › title: ${proof}`
  if (!/\.test\.tsx?$|\/contracts\//.test(path) || !existsSync(join(root, path))) return `there is no test file ${path}`
  const source = read(path)
  return [title, title.replaceAll("'", "\\'")].some(
    (text) => source.includes(`'${text}'`) || source.includes(`\`${text}\``),
  )
    ? null
    : `${path} has no test “${title}”`
}

const sources = globSync('packages/*/src/**/*.ts', { cwd: root })
  .filter((path) => !path.includes('.test.'))
  .map(read)
const exported: ReadonlyMap<string, unknown> = new Map(Object.entries(protocol))

const handle: protocol.SessionHandle = {
  id: protocol.SessionId.parse('ses_00000000000000000000000000'),
  submit: () => Promise.reject(new Error('never asked')),
  snapshot: () => Promise.reject(new Error('never asked')),
  page: () => Promise.reject(new Error('never asked')),
  async *subscribe() {},
}
const session = createSession(handle)

/** The lines between the braces of a type, wherever it is declared. */
function bodyOfType(name: string): string | null {
  const declared = new RegExp(`^(?:export )?(?:type|interface) ${name}\\b[^\\n]*\\{\\n([\\s\\S]*?)^\\}`, 'm')
  return sources.flatMap((source) => declared.exec(source)?.[1] ?? [])[0] ?? null
}

function typeHas(name: string, field: string): boolean {
  const schema = exported.get(name)
  if (schema instanceof z.ZodObject) return field in schema.shape
  if (schema instanceof z.ZodEnum) return schema.options.includes(field)
  return new RegExp(`^  (?:readonly )?${field}\\??[:(]`, 'm').test(bodyOfType(name) ?? '')
}

const isDeclared = (name: string): boolean =>
  exported.has(name) || sources.some((source) => new RegExp(`^export (?:type|interface) ${name}\\b`, 'm').test(source))

const isFunction = (name: string): boolean =>
  sources.some((source) => new RegExp(`^export (?:async )?(?:function|const) ${name}\\b`, 'm').test(source))

/** How each form of name is looked up. A form that fits none is a plain word and is not looked up. */
const forms: readonly (readonly [RegExp, (...groups: readonly string[]) => boolean])[] = [
  [/^session\.(id|\w+(?=\(\)$))/, (name = '') => name in session],
  [/^holdfast\.(\w+)\(\)$/, (name = '') => typeHas('Holdfast', name)],
  [/^holdfast ([a-z]+)$/, (name = '') => isCommandName(name)],
  [/^([A-Z]\w+)\.(\w+)$/, (name = '', field = '') => typeHas(name, field)],
  [/^([A-Z][a-z]\w*)$/, (name = '') => isDeclared(name)],
  [/^(\w+)\(\)$/, (name = '') => isFunction(name)],
  [/^([a-z]+\.[a-z]+)$/, (name = '') => name in protocol.eventVersion],
]

/** The names of ours in a cell that can be looked up, each with whether it exists. */
export function lookUp(cell: string): readonly { readonly name: string; readonly exists: boolean }[] {
  const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  return names.flatMap((name) => {
    for (const [form, find] of forms) {
      const found = form.exec(name)
      if (found) return [{ name, exists: find(...found.slice(1)) }]
    }
    return []
  })
}
