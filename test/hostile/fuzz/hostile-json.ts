import type { Dice } from '@holdfast/testkit'
import { awkwardStrings, unpaired } from '../strings/awkward-strings.ts'

const encoder = new TextEncoder()
const bytesOf = (text: string): Uint8Array => encoder.encode(text)

/** Numbers that a parser rounds, or that overflow a counter. */
const numbers = [
  '1e400',
  '-1e400',
  '9007199254740993',
  '-0',
  '1e-400',
  '0.1',
  '-1',
  '2147483648',
  '1e21',
  '18446744073709551616',
]
const values = [
  ...numbers,
  'null',
  'true',
  '[]',
  '{}',
  '""',
  '"NaN"',
  '"Infinity"',
  '"1"',
  '[[]]',
  '[null]',
  '{"a":{}}',
]

/** Objects that would change a prototype if they were merged into another. */
const polluting = [
  '"__proto__":{"polluted":true}',
  '"constructor":{"prototype":{"polluted":true}}',
  '"__proto__":null',
  '"__proto__":[]',
  '"toString":1,"valueOf":1',
  '"hasOwnProperty":null',
  '"then":"x"',
  '"__defineGetter__":"x"',
  '"\\u005f_proto__":{"polluted":true}',
]

const nested = (open: string, close: string, depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`

/** Turns the JSON of a valid body into a hostile one. Most results are refused; a few are valid. */
export function spoilJson(json: string, dice: Dice): Uint8Array {
  const pick = <Item>(items: readonly Item[]): Item => items[dice.below(items.length)] as Item // never empty
  const isObject = json.startsWith('{') && json.length > 2
  const added = (text: string) => (isObject ? `{${text},${json.slice(1)}` : `{${text}}`)
  const fields = [...json.matchAll(/"(\w+)":("(?:[^"\\]|\\.)*"|-?\d+|true|false|null)/g)]
  const field = dice.pick(fields)
  const replaced = (value: string) =>
    field ? `${json.slice(0, field.index)}"${field[1]}":${value}${json.slice(field.index + field[0].length)}` : value

  const ways: readonly (() => Uint8Array | string)[] = [
    () => replaced(pick(values)),
    () => replaced(pick(values)),
    () => replaced(JSON.stringify(pick(awkwardStrings))),
    () => replaced(JSON.stringify(pick(unpaired))),
    () => replaced(nested('[', ']', pick([5, 99, 101, 5000]))),
    () => replaced(nested('{"a":', '}', pick([5, 99, 101, 5000]))),
    () => (field ? json.replace(field[0], '"dropped":0') : '{}'),
    () => added(`"${pick(['unknown', 'type', 'id', 'by', 'at', 'seq', 'client', 'role'])}":${pick(values)}`),
    () => added(pick(polluting)),
    () => added(pick(polluting)),
    () => added(field ? `"${field[1]}":${pick(values)}` : '"a":1,"a":2'), // a repeated key
    () => json.slice(0, dice.below(json.length)),
    () => `${json}${pick(['}', ',', '{}', '\u0000', 'x', '//'])}`,
    () => `${pick(['\ufeff', '\u0000', '\u00a0', ")]}',\n", '\u2028'])}${json}`,
    () =>
      pick([
        '',
        ' ',
        '{',
        '[',
        '"',
        'nul',
        'NaN',
        '-',
        '01',
        "{'a':1}",
        '{a:1}',
        '[1,]',
        '<xml/>',
        'a=b&c=d',
        'null',
        '0',
        '[]',
        '""',
      ]),
    () => invalidUtf8(json, dice),
    () => new Uint8Array(Buffer.from(json, 'utf16le')),
    () => json.replaceAll(/"(\w)/g, (_, first: string) => `"\\u${first.charCodeAt(0).toString(16).padStart(4, '0')}`),
    () => Uint8Array.from({ length: 1 + dice.below(200) }, () => dice.below(256)),
  ]
  const spoiled = pick(ways)()
  return typeof spoiled === 'string' ? bytesOf(spoiled) : spoiled
}

/** Bytes that are no UTF-8: overlong, cut, a surrogate, above the last code point. */
const broken = [
  [0xff],
  [0xc0, 0xaf],
  [0xe0, 0x80, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xe2, 0x82],
  [0x80],
]

function invalidUtf8(json: string, dice: Dice): Uint8Array {
  const bytes = bytesOf(json)
  const at = Math.max(0, bytes.lastIndexOf(34))
  return Uint8Array.from([...bytes.slice(0, at), ...(dice.pick(broken) ?? []), ...bytes.slice(at)])
}
