import { type Fault, ok, type Result, type SessionId } from '@holdfast/protocol'
import { openSubject } from './open-subject.ts'
import { digestsOf, isReported, newlyTorn, readStoredFiles, withoutSideFiles } from './stored-files.ts'
import type { Read, Subject, SubjectLocation } from './subject/subject.ts'
import { batchAfter, blobAt, digestOf, type LogNumber, recordAt, sha256 } from './workload.ts'

/** What an outside witness knows of one log: how far it was submitted and how far acknowledged. */
export type Witness = {
  readonly log: LogNumber
  readonly submitted: number
  readonly acknowledged: number
  /** Seqs that were damaged after their acknowledgement: they may be lost, but must be reported as lost. */
  readonly damaged?: readonly number[]
}

/** The records of a session after `after` that an outside witness has seen, as digests. */
export type Shown = { readonly session: SessionId; readonly after: number; readonly digests: readonly string[] }

/** A refusal as the client received it. */
export type Report = { readonly fault: Fault; readonly afterMs: number }

/** A session after recovery: the rules that its history breaks, and its status. */
export type SessionEvidence = {
  readonly historyProblems: readonly string[]
  readonly activity: string
  readonly isWaitingForSomeone: boolean
}

export type Evidence = {
  readonly location: SubjectLocation
  readonly witnesses?: readonly Witness[]
  readonly shown?: readonly Shown[]
  readonly reports?: readonly Report[]
  readonly sessions?: readonly SessionEvidence[]
}

/** The points of P that were checked, and the violations. */
export type Verdict = { readonly checked: readonly number[]; readonly violations: readonly string[] }

/** Not checked by `npm test`, which may run on a busy machine. */
const reportedWithinMs = process.env['VITEST'] === undefined ? 1000 : Number.POSITIVE_INFINITY
/** With more logs, only a sample is checked: each one costs an append and a read. */
const appendedMax = 4
/** The number of an extra log that no row uses, for evidence without a log. */
const unused: Witness = { log: 900, submitted: 0, acknowledged: 0 }

/**
 * Checks P, the pass criterion of the fault matrix. W are the submitted records, A the acknowledged ones, R those read
 * after recovery. 1 A is in R. 2 R is a prefix of W, in whole batches. 3 Every record equals the submitted bytes. 4 Records
 * in R but not in A were in flight. 5 Opening twice gives the same. 6 An append succeeds and is recovered. 7 Nothing is
 * deleted. 8 The history is valid. 9 The session is idle or waits for a person. 10 A refusal has a code, a path and a
 * reason, in `npm run test:faults` within a second. A row passes the evidence it has; the result lists the points that could be checked.
 */
export async function verify(evidence: Evidence): Promise<Verdict> {
  const { location: given, witnesses = [], shown = [], reports = [], sessions = [] } = evidence
  if (!witnesses.some(({ submitted }) => submitted > 0) && !shown.some(({ digests }) => digests.length > 0))
    throw new Error('No record was submitted or shown, so there is nothing to check.')
  // The same writer and reader of SQLite's file, without workers, which take longer to start than the whole check.
  const location: SubjectLocation = given.kind === 'sqlite' ? { ...given, kind: 'inline' } : given
  const violations: string[] = []
  const check = (point: number, holds: boolean, what: string) => {
    if (!holds) violations.push(`P${point} ${location.kind}: ${what}`)
  }
  const before = await readStoredFiles(location)
  const problems: string[] = []

  const first = await reading(location, witnesses, shown, problems)
  if (!first.ok) return { checked: [], violations: [`${location.kind}: cannot be opened: ${first.fault.message}`] }
  for (const [index, witness] of witnesses.entries()) verifyLog(location, witness, first.value.logs[index] ?? [], check)
  for (const [index, one] of shown.entries()) verifyShown(one, first.value.pages[index] ?? [], check)

  const after = await readStoredFiles(location)
  for (const path of newlyTorn(before, after))
    check(7, location.kind === 'blobs' || isReported(path, problems), `${path} was cut without a report`)
  for (const lack of withoutSideFiles(before, after)) check(7, false, lack)

  const second = await reading(location, witnesses, shown, problems)
  check(5, second.ok && same(second.value, first.value), 'the second opening reads something else')
  check(5, same(digestsOf(await readStoredFiles(location)), digestsOf(after)), 'the second opening changes files')
  for (const violation of await goingOn(location, witnesses, shown, first.value)) check(6, false, violation)

  for (const { historyProblems, activity, isWaitingForSomeone } of sessions) {
    check(8, historyProblems.length === 0, historyProblems.join('; '))
    check(9, /^(idle|error)$/.test(activity) || isWaitingForSomeone, `the session is ${activity}, but no turn runs`)
  }
  for (const report of reports) check(10, isClear(report), `an unclear report: ${JSON.stringify(report)}`)
  return { checked: checkedWith(evidence, first.value, before.size > 0), violations }
}

/** Returns the points that this evidence can check. */
function checkedWith(
  { witnesses = [], shown = [], reports = [], sessions = [] }: Evidence,
  { logs, pages }: Reading,
  hasFiles: boolean,
): readonly number[] {
  const isOwed = witnesses.some(({ acknowledged }) => acknowledged > 0)
  const looked: readonly (readonly [number, boolean])[] = [
    [1, isOwed || shown.length > 0],
    [2, witnesses.length > 0],
    [3, [...logs, ...pages].some((read) => read.length > 0)],
    [4, witnesses.length > 0],
    [5, true],
    [6, true],
    [7, hasFiles],
    [8, sessions.length > 0],
    [9, sessions.length > 0],
    [10, reports.length > 0],
  ]
  return looked.flatMap(([point, isLooked]) => (isLooked ? [point] : []))
}

type Check = (point: number, holds: boolean, what: string) => void

function verifyLog(location: SubjectLocation, witness: Witness, read: readonly Read[], check: Check): void {
  const { log, submitted, acknowledged, damaged = [] } = witness
  check(1, read.length >= acknowledged, `log ${log}: ${acknowledged} acknowledged, ${read.length} read`)
  check(4, read.length <= submitted, `log ${log}: ${submitted} submitted, ${read.length} read`)
  check(2, isWholeBatches(location, read.length), `log ${log}: ${read.length} records end within a batch`)
  for (const [index, one] of read.entries()) {
    const seq = index + 1
    const isLost = one === 'lost' && damaged.includes(seq)
    check(2, one !== 'missing', `log ${log}: ${seq} is missing, but a later record exists`)
    check(3, isLost || one === 'missing' || one === expected(location, log, seq), `log ${log}: ${seq} is ${one}`)
  }
}

function verifyShown({ session, after, digests }: Shown, read: readonly Read[], check: Check): void {
  check(1, read.length === digests.length, `${session}: ${digests.length} shown after ${after}, ${read.length} read`)
  for (const [index, one] of read.entries())
    check(3, one === digests[index], `${session}: ${after + index + 1} is not what was shown`)
}

const expected = ({ kind }: SubjectLocation, log: LogNumber, seq: number): string =>
  kind === 'blobs' ? sha256(blobAt(log, seq)) : digestOf(recordAt(log, seq).record)

function isWholeBatches({ kind }: SubjectLocation, length: number): boolean {
  let head = 0
  while (head < length) head += kind === 'blobs' ? 1 : batchAfter(head)
  return head === length
}

/** The records that were read: of each witnessed log and of each shown part. */
type Reading = { readonly logs: readonly (readonly Read[])[]; readonly pages: readonly (readonly Read[])[] }

async function reading(
  location: SubjectLocation,
  witnesses: readonly Witness[],
  shown: readonly Shown[],
  problems: string[],
): Promise<Result<Reading>> {
  const opened = await openSubject(location, ({ cause }) => problems.push(String(cause)))
  if (!opened.ok) return opened
  const { value: subject } = opened
  const logs: (readonly Read[])[] = []
  const pages: (readonly Read[])[] = []
  for (const { log, submitted } of witnesses) logs.push(await subject.read(log, submitted))
  for (const { session, after, digests } of shown) pages.push(await subject.page(session, after, digests.length))
  await subject.close()
  return ok({ logs, pages })
}

/** Appends to some logs, opens the store again and returns what is wrong. */
async function goingOn(
  location: SubjectLocation,
  witnesses: readonly Witness[],
  shown: readonly Shown[],
  first: Reading,
): Promise<readonly string[]> {
  const some = witnesses.length > 0 ? witnesses.slice(0, appendedMax) : [unused]
  const opened = await openSubject(location)
  if (!opened.ok) return [`cannot be opened to append: ${opened.fault.message}`]
  const refusals = await appendEach(opened.value, some, first.logs)
  await opened.value.close()
  const again = await reading(location, some, shown, [])
  if (!again.ok) return [...refusals, `cannot be opened after an append: ${again.fault.message}`]
  const lacks = some.flatMap(({ log }, index) => {
    const [was = [], is = []] = [first.logs[index], again.value.logs[index]]
    const more = location.kind === 'blobs' ? 1 : batchAfter(was.length)
    const isThere = same(is.slice(0, was.length), was) && is.length === was.length + more && !is.includes('missing')
    return isThere ? [] : [`log ${log}: ${was.length} and ${more} more were read as ${is.length}`]
  })
  const changed = same(again.value.pages, first.pages) ? [] : ['what was shown has changed after an append']
  return [...refusals, ...lacks, ...changed]
}

async function appendEach(
  subject: Subject,
  witnesses: readonly Witness[],
  read: readonly (readonly Read[])[],
): Promise<readonly string[]> {
  const refusals: string[] = []
  for (const [index, { log }] of witnesses.entries()) {
    const answer = await subject.submit(log, read[index]?.length ?? 0)
    if (!answer.ok) refusals.push(`log ${log}: an append after recovery: ${answer.fault.message}`)
  }
  return refusals
}

function isClear({ fault, afterMs }: Report): boolean {
  const { code, details = {} } = fault
  const isNamed = 'errno' in details || 'sqlite' in details || 'reason' in details || 'pid' in details
  return code !== 'internal' && typeof details['path'] === 'string' && isNamed && afterMs < reportedWithinMs
}

const same = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right)
