import { escapeHidden, limits } from '@holdfast/protocol'

/** Of a long text, so many characters are escaped and printed at a time. */
const pieceChars = 16 * 1024

/** Prints arguments as indented JSON, with hidden characters escaped, in short pieces. */
export function* printArguments(args: { readonly [name: string]: unknown }): Generator<string> {
  let chars = 0
  for (const piece of joined(print(args, ''))) {
    chars += piece.length
    if (chars > limits.previewWholeBytesMax) return yield '\n[… the rest is left out …]\n'
    yield piece
  }
}

/** Joins short pieces. */
function* joined(pieces: Iterable<string>): Generator<string> {
  let held = ''
  for (const piece of pieces) {
    held += piece
    if (held.length < pieceChars) continue
    yield held
    held = ''
  }
  if (held !== '') yield held
}

function* print(value: unknown, indent: string): Generator<string> {
  if (typeof value === 'string') return yield* printString(value)
  if (value === null || typeof value !== 'object') return yield JSON.stringify(value) ?? 'null'
  const isList = Array.isArray(value)
  const names = isList ? [...value.keys()] : Object.keys(value)
  if (names.length === 0) return yield isList ? '[]' : '{}'
  if (indent.length > 2 * limits.jsonDepthMax) return yield '"[… left out …]"' // only a program's own preview
  yield isList ? '[' : '{'
  let separator = '\n'
  for (const name of names) {
    yield `${separator}${indent}  `
    if (typeof name === 'string') {
      yield* printString(name)
      yield ': '
    }
    yield* print(Reflect.get(value, name), `${indent}  `)
    separator = ',\n'
  }
  yield `\n${indent}${isList ? ']' : '}'}`
}

function* printString(text: string): Generator<string> {
  yield '"'
  for (let at = 0; at < text.length; ) {
    const isSplit = ((text.charCodeAt(at + pieceChars - 1) || 0) & 0xfc00) === 0xd800 // not inside a surrogate pair
    const end = at + pieceChars + (isSplit ? 1 : 0)
    yield JSON.stringify(escapeHidden(text.slice(at, end))).slice(1, -1)
    at = end
  }
  yield '"'
}
