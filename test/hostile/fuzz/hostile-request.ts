import type { Dice } from '@holdfast/testkit'
import { awkwardStrings } from '../strings/awkward-strings.ts'
import { type ApiDocument, createValueMaker, type Operation, type Shape } from './api-document.ts'
import type { Caller, FuzzWorld } from './fuzz-world.ts'
import { spoilHeaders } from './hostile-headers.ts'
import { spoilJson } from './hostile-json.ts'

/** A request as it is written to the connection. */
export type HostileRequest = {
  readonly bytes: Uint8Array
  readonly caller: Caller
  readonly operation: Operation
  /** Whether method, path and query are as the document describes them, so that the route answers. */
  readonly isRouted: boolean
  /** Whether only the caller, the path, the query and the body were chosen: the headers are those of a usual client. */
  readonly isFramed: boolean
  /** Whether the headers that tell where the request ends are right: the server may wait for the rest of any other. */
  readonly isWhole: boolean
  readonly method: string
  /** A line that tells what was sent. */
  readonly told: string
}

const segments = [
  ...[
    '..',
    '.',
    '%2e%2e',
    '%2E%2e%2fx',
    '..%2f..%2fetc%2fpasswd',
    '%252e%252e',
    '%00',
    'a%00b',
    '%0d%0aX:%20y',
    '%ff',
    '%c0%ae',
    '%c0%af',
  ],
  ...[
    '%ed%a0%80',
    '%',
    '%zz',
    '%u0041',
    '__proto__',
    'constructor',
    'toString',
    'null',
    'undefined',
    'NaN',
    '0',
    '-1',
    'CON',
    '~',
    '*',
  ],
  ...[
    '%E2%80%AE',
    '%F0%9F%98%80',
    '%EF%BB%BF',
    'a;b=c',
    'a:b',
    'a@b',
    '@',
    ':',
    '$',
    '"',
    "'",
    '<script>',
    '{id}',
    ':id',
    '%20',
    '+',
    '#',
    '..#',
  ],
  ...[
    'ses_',
    'ses_0',
    `ses_${'0'.repeat(26)}`,
    `ses_${'z'.repeat(26)}`,
    '0'.repeat(64),
    'x'.repeat(300),
    'x'.repeat(9000),
    '%41'.repeat(2000),
  ],
]

const targets = [
  ...[
    '/',
    '//',
    '/v1',
    '/v1/',
    '/v1//sessions',
    '//v1/sessions',
    '/V1/sessions',
    '/v1/sessions/',
    '/v1/%73essions',
    '/v1/sessions%2f',
    '/v1/none',
  ],
  ...[
    '/index.html',
    '/assets/../../package.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/.git/config',
    '/%00',
    '/favicon.ico',
    '/login',
    '/shared',
  ],
  ...[
    '*',
    'v1/health',
    'http://127.0.0.1/v1/tokens',
    '/v1/health?',
    '/v1/health??',
    '/v1/health?a',
    '/v1/health#x',
    '/v1/health?a=%',
    '/?__proto__[x]=1',
  ],
  ...[
    '/v1/sessions?limit=1&limit=2',
    '/v1/sessions?__proto__=1',
    '/v1/sessions?constructor=1',
    '/v1/sessions?toString=',
    '/v1/stats?days=1e9',
  ],
  ...[
    `/${'x'.repeat(15_000)}`,
    `/v1/${'a/'.repeat(4000)}`,
    `/v1/search?q=${'%61'.repeat(4000)}`,
    '/v1/search?q=%ff%fe',
    '/v1/search?q=%00',
  ],
]

const methods = [
  'HEAD',
  'OPTIONS',
  'PUT',
  'PATCH',
  'TRACE',
  'PROPFIND',
  'get',
  'QUERY',
  'POST',
  'DELETE',
  'GET',
  'LOCK',
  'M-SEARCH',
]

/** Makes requests of one run, from the document of the server. */
export function createRequestMaker(
  document: ApiDocument,
  operations: readonly Operation[],
  world: FuzzWorld,
  dice: Dice,
) {
  const pick = <Item>(items: readonly Item[]): Item => items[dice.below(items.length)] as Item // never empty
  const textFor = (name: string, shape: Shape): string => {
    if (dice.chance(1, 12)) return pick(awkwardStrings)
    if (shape.format === 'date-time') return pick(['2020-01-01T00:00:00Z', '2999-01-01T00:00:00Z'])
    return pick(world.textsFor(name))
  }
  const make = createValueMaker(document, dice, textFor)

  function pathOf({ path, parameters }: Operation): string {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      dice.chance(1, 6) ? pick(segments) : encodeURIComponent(pick(world.textsFor(name))),
    )
    const given = parameters.flatMap(({ name, in: place, required, schema }) =>
      place === 'query' && (required ? dice.chance(19, 20) : dice.chance(1, 3))
        ? [`${name}=${dice.chance(1, 10) ? pick(segments) : encodeURIComponent(wellFormed(make(schema, name)))}`]
        : [],
    )
    if (dice.chance(1, 25))
      given.push(`${pick(['x', '__proto__', 'token', 'gatewayUrl', 'constructor'])}=${pick(segments)}`)
    return given.length === 0 ? filled : `${filled}?${given.join('&')}`
  }

  function bodyOf({ body }: Operation): Uint8Array {
    if (body === null) return dice.chance(1, 20) ? spoilJson('{"a":1}', dice) : new Uint8Array()
    if (body === 'bytes') return spoilJson(pick(['{"a":1}', '# text', '{"type":"header"}\n{"seq":1}']), dice)
    const json = JSON.stringify(make(body, 'body')) ?? 'null'
    return dice.chance(1, 2) ? spoilJson(json, dice) : new TextEncoder().encode(json)
  }

  // A route that takes many commands, or changes something, gets more of the requests.
  const weighted = operations.flatMap((one) => Array<Operation>(weightOf(one)).fill(one))
  const mighty = world.callers.filter(({ role }) => role === 'driver' || role === 'admin')

  return (): HostileRequest => {
    const operation = pick(weighted)
    const caller = pick(dice.chance(1, 3) ? mighty : world.callers)
    const isStrange = dice.chance(1, 12)
    const target = isStrange ? pick(targets) : pathOf(operation)
    const method = dice.chance(1, 15) ? pick(methods) : operation.method
    const body = bodyOf(operation)
    const usual: readonly string[] = [
      `Host: 127.0.0.1:${world.port}`,
      ...(caller.secret === null ? [] : [`Authorization: Bearer ${caller.secret}`]),
      ...(body.length > 0 ? [`Content-Type: ${operation.body === 'bytes' ? 'text/plain' : 'application/json'}`] : []),
      ...(body.length > 0 || method !== 'GET' ? [`Content-Length: ${body.length}`] : []),
      'Connection: close',
    ]
    const isFramed = !dice.chance(1, 4)
    const lines = isFramed ? usual : spoilHeaders(usual, world, dice)
    const head = `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
    return {
      bytes: Buffer.concat([Buffer.from(head, 'utf8'), body]),
      caller,
      operation,
      method,
      isFramed,
      isWhole: isFramed || endsOf(lines) === endsOf(usual),
      isRouted: !isStrange && method === operation.method,
      told: `${caller.name}: ${tell(head)}${tell(Buffer.from(body).toString('latin1'))}`,
    }
  }
}

/** Returns the headers that tell where a request ends. Without a colon, the next line may be part of another header. */
const endsOf = (lines: readonly string[]): string =>
  lines
    .filter(
      (line) => /^(content-length|transfer-encoding|expect|upgrade|connection)/i.test(line) || !/^[\w-]+:/.test(line),
    )
    .join()

const weightOf = ({ method, path }: Operation): number =>
  path.endsWith('/commands') && method === 'POST' ? 20 : method === 'GET' ? 1 : 2

const wellFormed = (value: unknown): string => String(value).toWellFormed()

const toldMax = 600
const tell = (text: string): string =>
  JSON.stringify(text.length > toldMax ? `${text.slice(0, toldMax)}… (${text.length})` : text)
