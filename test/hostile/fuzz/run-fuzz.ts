import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { faultStatus } from '@holdfast/protocol'
import { createDice } from '@holdfast/testkit'
import { type ApiDocument, type Operation, readOperations } from './api-document.ts'
import { type Caller, openFuzzWorld, type WorldState } from './fuzz-world.ts'
import { createRequestMaker, type HostileRequest } from './hostile-request.ts'
import { type RawAnswer, sendBytes } from './raw-http.ts'
import { smugglingAttempts } from './smuggling.ts'

type FuzzReport = {
  readonly sent: number
  /** How many answers had each status. */
  readonly statuses: { readonly [status: string]: number }
  /** The routes that did what some request asked for. */
  readonly worked: ReadonlySet<string>
  /** The routes that got a request with their method and path. */
  readonly tried: ReadonlySet<string>
  /** All routes of the document. */
  readonly routes: readonly string[]
  readonly violations: readonly string[]
}

const violationsMax = 20
const uncertainRequests = 10

/** Sends random requests to a real server, one after the other, and checks each answer and that refusals change nothing. */
export async function runFuzz({ requests, seed }: { requests: number; seed: number }): Promise<FuzzReport> {
  const world = await openFuzzWorld()
  const violations: string[] = []
  try {
    const document: ApiDocument = JSON.parse((await world.get('/openapi.json')).text)
    const operations = readOperations(document)
    const next = createRequestMaker(document, operations, world, createDice(seed))
    const codes = await readCodes()
    const prototypes = await world.readPrototypes()
    const counted = new Map<number, number>()
    const worked = new Set<string>()
    const tried = new Set<string>()
    let state = await world.settle()

    // A request whose client left before the answer may still do its work.
    let uncertain = 0
    const checkRefusal = async (told: string) => {
      const now = await world.read()
      if (uncertain-- <= 0)
        violations.push(...findChanges(state, now).map((part) => `${told}\n  was refused and changed ${part}`))
      state = now
    }
    const seen = await world.readAsAdmin()
    for (const text of smugglingAttempts(world)) {
      const answer = await sendBytes(world.port, Buffer.from(text, 'latin1'), { isCut: true })
      if (answer.answers > 1) violations.push(`${JSON.stringify(text)}\n  got ${answer.answers} answers`)
      violations.push(...checkShape(answer, codes).map((why) => `${JSON.stringify(text)}\n  ${why}`))
      await world.settle() // a second request might still run
      await checkRefusal(JSON.stringify(text))
    }
    if (!isDeepStrictEqual(seen, await world.readAsAdmin()))
      violations.push('smuggled requests changed what an admin sees')

    let sent = 0
    for (; sent < requests && violations.length < violationsMax; sent++) {
      const request = next()
      if (request.isRouted) tried.add(request.operation.name)
      const answer = await sendBytes(world.port, request.bytes, { isCut: !request.isWhole })
      counted.set(answer.status, (counted.get(answer.status) ?? 0) + 1)
      violations.push(...checkAnswer(request, answer, codes).map((why) => `${request.told}\n  ${why}`))
      if (answer.status >= 400) await checkRefusal(request.told)
      else {
        if (answer.status === 0) uncertain = uncertainRequests
        else if (request.isRouted) worked.add(request.operation.name)
        if (request.method !== 'GET' || findChanges(state, await world.read()).length > 0) state = await world.settle()
      }
    }
    if (!isDeepStrictEqual(prototypes, await world.readPrototypes()))
      violations.push('a prototype of the server has changed')
    const health = await world.get('/health')
    if (health.status !== 200) violations.push(`the server is not well afterwards: ${health.status} ${health.text}`)
    return {
      sent,
      statuses: Object.fromEntries(counted),
      worked,
      tried,
      routes: operations.map(({ name }) => name),
      violations,
    }
  } finally {
    await world.close()
  }
}

/** Reads the codes that the documentation lists. */
async function readCodes(): Promise<ReadonlySet<string>> {
  const text = await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
  return new Set([...text.matchAll(/^\| `([a-z_]+)` \| \d{3} \|/gm)].map(([, code = '']) => code))
}

function checkAnswer(request: HostileRequest, answer: RawAnswer, codes: ReadonlySet<string>): readonly string[] {
  const { operation, caller, isRouted, isFramed, isWhole, method } = request
  const found = method === 'HEAD' ? [] : [...checkShape(answer, codes)]
  const { status } = answer
  if (status === 0 && isWhole) found.push('got no answer')
  if (isRouted && isFramed && status > 0 && status < 400 && !mayCall(caller, operation))
    found.push(`got ${status}, which this caller may not call`)
  const code = codeOf(answer)
  if (isRouted && isFramed && code !== null && !operation.codes.has(code) && !isOtherRoute(request, code))
    found.push(`refused with ${code}, which the route does not declare`)
  return found
}

/** A hostile part of a path may lead to another route, or to none. */
const isOtherRoute = ({ told }: HostileRequest, code: string): boolean =>
  code === 'not_found' || code === 'bad_id' || (code === 'unauthorized' && told.includes('no token'))

const rank = { viewer: 0, driver: 1, admin: 2 } as const

function mayCall({ role, isForOneSession }: Caller, { leastRole, leastRoleOfOne }: Operation): boolean {
  if (leastRole === null) return true
  const least = isForOneSession ? leastRoleOfOne : leastRole
  return role !== null && least !== null && rank[role] >= rank[least]
}

/** Checks what every refusal has, and what none may have. */
function checkShape(answer: RawAnswer, codes: ReadonlySet<string>): readonly string[] {
  const { status, headers, body } = answer
  if (status === 500 || status === 504) return [`got ${status}: ${body.slice(0, 300)}`]
  const leaked = /\\n +at |node_modules|\.ts:\d/.exec(body)
  if (status < 400) return []
  if (leaked) return [`got ${status} with internals: ${body.slice(0, 300)}`]
  const code = codeOf(answer)
  if (code === null) return [`got ${status} without the shape of an error: ${JSON.stringify(body.slice(0, 300))}`]
  if (!codes.has(code)) return [`got the code ${code}, which docs/errors.md does not list`]
  if (code === 'internal') return [`got an internal error: ${body.slice(0, 300)}`]
  if (headers.get('x-content-type-options') !== 'nosniff') return [`got ${status} without the headers of every answer`]
  const usual = Object.entries(faultStatus).find(([name]) => name === code)?.[1]
  const isKnownStatus = status === usual || [405, 408, 417, 431].includes(status)
  return isKnownStatus ? [] : [`got ${status} with the code ${code} of ${usual}`]
}

/** Returns the code of a refusal that has the shape of one; null otherwise. */
function codeOf({ status, headers, body }: RawAnswer): string | null {
  if (status < 400 || !headers.get('content-type')?.startsWith('application/json')) return null
  try {
    const { error } = JSON.parse(body)
    const isWhole = typeof error.message === 'string' && error.message !== '' && typeof error.requestId === 'string'
    return isWhole && typeof error.code === 'string' ? error.code : null
  } catch {
    return null
  }
}

const findChanges = (before: WorldState, after: WorldState): readonly string[] =>
  Object.keys(before).flatMap((part) =>
    before[part] === after[part] ? [] : [`${part}: ${tellDifference(before[part] ?? '', after[part] ?? '')}`],
  )

function tellDifference(before: string, after: string): string {
  let at = 0
  while (before[at] === after[at]) at++
  const from = Math.max(0, at - 80)
  return `${before.slice(from, at + 120)} → ${after.slice(from, at + 120)}`
}
