import { type ApiDocument, type Operation, readOperations, type Shape } from './api-document.ts'
import { type FuzzWorld, openFuzzWorld } from './fuzz-world.ts'
import { sendBytes } from './raw-http.ts'

type WalkReport = {
  readonly sent: number
  /** The routes that have a text in their path, query or body. */
  readonly routes: ReadonlySet<string>
  readonly violations: readonly string[]
}

/** Texts that no path may have: the system takes no NUL, and no file system so long a name. */
const impossibleTexts = (workdir: string, isQuick: boolean): readonly string[] => [
  ...['a\0b', `${workdir}/a\0b`],
  ...(isQuick ? [] : ['\0', '../\0', '\ud800', `${workdir}/${'n'.repeat(300)}`, `${workdir}/${'n/'.repeat(1900)}`]),
]

/** A path with a NUL, in a query or in a body. */
const badPath = /[?&](?:workdir|workspace|paths?|text)=[^&]*%00|"(?:workdir|workspace|path|paths)":\[?"[^"]*\\u0000/

const deepMax = 6

/** Sends each text to each place for a text of every route, as an admin. A place is a query parameter, a part of the path or a field. */
export async function walkTexts({ isQuick }: { readonly isQuick: boolean }): Promise<WalkReport> {
  const world = await openFuzzWorld()
  const violations: string[] = []
  const routes = new Set<string>()
  let sent = 0
  try {
    const document: ApiDocument = JSON.parse((await world.get('/openapi.json')).text)
    const texts = impossibleTexts(world.textsFor('workdir')[0] ?? '/', isQuick)
    for (const operation of readOperations(document)) {
      for (const text of texts)
        for (const { target, body } of requestsWith(text, operation, document, world)) {
          const { status, body: answer } = await sendBytes(world.port, bytesOf(operation, target, body, world))
          const request = `${operation.method} ${target} ${JSON.stringify(body) ?? ''}`
          routes.add(operation.name)
          sent++
          const isFault = status >= 400 && status < 500 && /"code":"[a-z_]+"/.test(answer)
          if (!isFault && (status < 200 || status >= 400 || badPath.test(request)))
            violations.push(`${request}\n  got ${status}: ${answer}`.slice(0, 1000))
        }
    }
    const { status } = await world.get('/health')
    if (status !== 200) violations.push(`the server is not well afterwards: ${status}`)
    return { sent, routes, violations }
  } finally {
    await world.close()
  }
}

type Requested = { readonly target: string; readonly body: unknown }

/** Returns the requests of a route that have the text in one place, and usual values in the others. */
function requestsWith(
  text: string,
  operation: Operation,
  document: ApiDocument,
  world: FuzzWorld,
): readonly Requested[] {
  const { usual, spoiled } = createValues(document, world)
  const { parameters, path, body } = operation
  const json = body === 'bytes' || body === null ? null : body
  const usualBody = json === null ? (body === 'bytes' ? 'bytes' : undefined) : usual(json, 'body')
  const query = parameters.filter((one) => one.in === 'query')
  const given = query.filter((one) => one.required).map(({ name, schema }) => [name, usual(schema, name)] as const)
  const filled = (at?: string) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(name === at ? text.toWellFormed() : (world.textsFor(name)[0] ?? '')),
    )
  const targetOf = (pairs: readonly (readonly [string, unknown])[], at?: string) => {
    const encoded = pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value).toWellFormed())}`)
    return encoded.length === 0 ? filled(at) : `${filled(at)}?${encoded.join('&')}`
  }
  const others = (name: string) => given.filter(([other]) => other !== name)
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ target: targetOf(given, name), body: usualBody })),
    ...query.flatMap(({ name, schema }) =>
      // A list in a query is JSON.
      [...spoiled(schema, name, text), ...(name === 'paths' ? [JSON.stringify([text])] : [])].map((value) => ({
        target: targetOf([...others(name), [name, value]]),
        body: usualBody,
      })),
    ),
    ...(json === null ? [] : spoiled(json, 'body', text).map((value) => ({ target: targetOf(given), body: value }))),
  ]
}

/** Makes values of a schema: a usual one, and those with a text in one place. */
function createValues({ components }: ApiDocument, world: FuzzWorld) {
  const resolve = (shape: Shape): Shape =>
    shape.$ref ? resolve(components.schemas[shape.$ref.split('/').at(-1) ?? ''] ?? {}) : shape
  const typeOf = ({ type }: Shape) => (typeof type === 'string' ? type : (type?.[0] ?? 'string'))

  const usual = (given: Shape, name: string, depth = 0): unknown => {
    const shape = resolve(given)
    if ('const' in shape) return shape.const
    if (shape.enum) return shape.enum[0]
    const [choice] = shape.anyOf ?? shape.oneOf ?? []
    if (choice) return usual(choice, name, depth)
    switch (typeOf(shape)) {
      case 'object':
        return Object.fromEntries(
          (shape.required ?? []).map((field) => [field, usual(shape.properties?.[field] ?? {}, field, depth + 1)]),
        )
      case 'array':
        return depth > deepMax ? [] : [usual(shape.items ?? {}, name, depth + 1)]
      case 'boolean':
        return true
      case 'integer':
      case 'number':
        return 1
      case 'null':
        return null
      default:
        return world.textsFor(name)[0]
    }
  }

  const spoiled = (given: Shape, name: string, text: string, depth = 0): readonly unknown[] => {
    const shape = resolve(given)
    if (depth > deepMax || 'const' in shape || shape.enum) return []
    const choices = shape.anyOf ?? shape.oneOf
    if (choices) return choices.flatMap((one) => spoiled(one, name, text, depth))
    switch (typeOf(shape)) {
      case 'object': {
        const base = usual(shape, name, depth) as Record<string, unknown> // as the type says
        // Each of some hundred commands has the same id of a command.
        const properties = Object.entries(shape.properties ?? {}).filter(([field]) => field !== 'commandId')
        return properties.flatMap(([field, one]) =>
          spoiled(one, field, text, depth + 1).map((value) => ({ ...base, [field]: value })),
        )
      }
      case 'array':
        return spoiled(shape.items ?? {}, name, text, depth + 1).map((value) => [value])
      case 'string':
        return [text]
      default:
        return []
    }
  }
  return { usual, spoiled }
}

function bytesOf({ method, body: described }: Operation, target: string, body: unknown, world: FuzzWorld): Uint8Array {
  const admin = world.callers.find(({ role }) => role === 'admin')
  const text = body === undefined ? '' : described === 'bytes' ? 'text' : JSON.stringify(body)
  const head = [
    `${method} ${target} HTTP/1.1`,
    `Host: 127.0.0.1:${world.port}`,
    `Authorization: Bearer ${admin?.secret}`,
    ...(text === '' ? [] : [`Content-Type: ${described === 'bytes' ? 'text/plain' : 'application/json'}`]),
    ...(text === '' && method === 'GET' ? [] : [`Content-Length: ${Buffer.byteLength(text)}`]),
    'Connection: close',
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${text}`)
}
