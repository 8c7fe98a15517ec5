import { isMap, isScalar, isSeq, type Pair, parseDocument, type YAMLMap } from 'yaml'
import { Fields } from './fields.ts'

/** What is wrong with a file, for the person who wrote it. */
export type FileProblem = { readonly line: number | null; readonly message: string }

export type MarkdownFile = {
  readonly fields: Fields
  readonly body: string
  readonly problems: readonly FileProblem[]
}

const frontMatterCharsMax = 16 * 1024
/** The parser's time grows with the square of open brackets. */
const bracketsMax = 200

/**
 * Splits a Markdown file into its front matter, YAML between two lines of three dashes, and its body. It never throws: a
 * file with unreadable front matter has no fields, and a problem that says why. Only YAML is read, so that a file runs no
 * code.
 */
export function readMarkdownFile(text: string): MarkdownFile {
  const clean = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  const opening = /^---([^\n]*)\n/.exec(clean)
  if (opening === null) return { fields: new Fields(), body: clean, problems: [] }
  const language = opening[1]?.trim() ?? ''
  const begin = opening[0].length
  const closing = /^---[ \t]*$/m.exec(clean.slice(begin))
  if (closing === null) return unread(clean, 1, 'Its front matter has no closing line of three dashes.')
  const source = clean.slice(begin, begin + closing.index)
  const body = clean.slice(begin + closing.index + closing[0].length).replace(/^\n/, '')
  if (language !== '') return unread(body, 1, `Front matter is YAML after a line of three dashes, not ---${language}.`)
  if (source.length > frontMatterCharsMax)
    return unread(body, 1, `Its front matter has more than ${frontMatterCharsMax} characters.`)
  if (countBrackets(source) > bracketsMax)
    return unread(body, 1, `Its front matter has more than ${bracketsMax} opening brackets.`)
  return { ...readFields(source), body }
}

const countBrackets = (source: string): number => source.match(/[[{]/g)?.length ?? 0

const unread = (body: string, line: number, message: string): MarkdownFile => ({
  fields: new Fields(),
  body,
  problems: [{ line, message }],
})

type Read = Pick<MarkdownFile, 'fields' | 'problems'>

/** Reads the fields. Values that people write without the quotes that YAML asks for are quoted for them, once. */
function readFields(source: string): Read {
  const plain = parseFields(source)
  if (plain.problems.length === 0) return plain
  const quoted = quoteInvalidValues(source)
  if (quoted.lines.length === 0) return plain
  const mended = parseFields(quoted.source)
  if (mended.problems.length > 0) return plain
  const problems = quoted.lines.map((line) => ({
    line,
    message: 'Its value needs quotes in YAML; it was read as text.',
  }))
  return { fields: mended.fields, problems }
}

function parseFields(source: string): Read {
  try {
    const document = parseDocument(source, { uniqueKeys: false, logLevel: 'silent' })
    const [error] = document.errors
    if (error)
      return problemAt(lineOf(source, error.pos[0]), `Its front matter is not YAML: ${firstLine(error.message)}`)
    if (document.contents === null) return { fields: new Fields(), problems: [] }
    if (!isMap(document.contents)) return problemAt(2, 'Its front matter is not a list of fields with values.')
    return { fields: collect(document.contents, source), problems: [] }
  } catch (cause) {
    // Too deep for the parser, or an alias that refers to itself.
    return problemAt(
      2,
      `Its front matter cannot be read: ${firstLine(cause instanceof Error ? cause.message : String(cause))}`,
    )
  }
}

const problemAt = (line: number, message: string): Read => ({ fields: new Fields(), problems: [{ line, message }] })

function collect(map: YAMLMap, source: string): Fields {
  const fields = new Fields()
  for (const pair of map.items as readonly Pair[]) {
    if (!isScalar(pair.key)) continue
    fields.set(String(pair.key.value), { ...readValue(pair.value), source: sourceOf(pair.value, source) })
  }
  return fields
}

/** Reads a text or a list of texts; anything else counts as its source text. Aliases are not followed. */
function readValue(node: unknown): { readonly text: string | null; readonly list: readonly string[] | null } {
  if (isScalar(node)) return { text: textOf(node), list: null }
  if (!isSeq(node)) return { text: null, list: null }
  return { text: null, list: node.items.flatMap((item) => (isScalar(item) ? [textOf(item)] : [])) }
}

/** A number keeps its digits as written, so that `name: 007` is a name. */
const textOf = (node: { readonly value: unknown; readonly source?: string }): string =>
  node.value === null ? '' : typeof node.value === 'string' ? node.value : (node.source ?? String(node.value))

function sourceOf(node: unknown, source: string): string {
  const range = (node as { readonly range?: readonly [number, number, number] } | null)?.range
  return range ? source.slice(range[0], range[1]).trim() : ''
}

const topLevel = /^([A-Za-z][\w-]*):[ \t]+(\S.*)$/

/** Quotes the values of top-level fields that are not YAML by themselves. */
function quoteInvalidValues(source: string): { readonly source: string; readonly lines: readonly number[] } {
  const lines: number[] = []
  const mended = source.split('\n').map((line, index) => {
    const [, name, value] = topLevel.exec(line) ?? []
    if (name === undefined || value === undefined || parseFields(line).problems.length === 0) return line
    lines.push(index + 2)
    return `${name}: ${JSON.stringify(value.trim())}`
  })
  return { source: mended.join('\n'), lines }
}

/** The line in the file: the front matter begins on the second. */
const lineOf = (source: string, position: number): number => source.slice(0, position).split('\n').length + 1
const firstLine = (text: string): string => text.split('\n', 1)[0]?.replace(/:$/, '') ?? ''
