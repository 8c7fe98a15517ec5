import { type Answer, fault, noSuchShell, ok, type Result, refuse, type Submission } from '@holdfast/protocol'
import type { ProcessRequest } from '../../session/input.ts'
import type { RunningSession } from './handle-input.ts'
import { seatRefusal } from './refusal.ts'
import { commandIdReused } from './same-command.ts'

/** Answers a request that concerns this process. Nothing of it is recorded, so a record with its id is of another command. */
export async function answerRequest(
  session: RunningSession,
  request: ProcessRequest,
  sender: Omit<Submission, 'command'>,
): Promise<Result<Answer>> {
  const sent = { commandId: sender.commandId, command: request }
  const first = await session.options.deps.store.findCommand(session.options.id, sent.commandId)
  if (first) return refuse(commandIdReused(sent.commandId, first.seq))
  const other = session.unrecorded.findReuse(sent)
  if (other) return refuse(other)
  const answer = await performRequest(session, request, sender)
  if (answer.ok) session.unrecorded.remember(sent)
  return answer
}

async function performRequest(
  session: RunningSession,
  request: ProcessRequest,
  { by, needsSeat, person }: Omit<Submission, 'command'>,
): Promise<Result<Answer>> {
  const { drivers } = session.hub
  const unseated = by && seatRefusal(session, { needsSeat, person }, by)
  if (unseated) return refuse(unseated)
  const nothingNew = ok({ seq: session.folded.state.seq, result: {} })
  if (request.type === 'claimDriver' || request.type === 'handOver') {
    const refusal = drivers.answer(request, by)
    return refusal ? refuse(refusal) : nothingNew
  }
  const refusal = by && drivers.refusal(by)
  if (refusal) return refuse(refusal)
  const done = await perform(session, request)
  if (done.ok && session.closed) return refuse(session.closed)
  return done.ok ? nothingNew : done
}

async function perform(
  { options: { id, deps }, folded }: RunningSession,
  request: Exclude<ProcessRequest, { type: 'claimDriver' | 'handOver' }>,
): Promise<Result<unknown>> {
  switch (request.type) {
    case 'refreshCredentials':
      return deps.models.refresh()
    case 'stopBackgroundShell':
      return (await deps.tools.background?.stop(id, request.shell)) ?? refuse(noSuchShell)
    case 'retryServer':
      return (await deps.servers?.retry(folded.state.origin?.workdir ?? '', request.server)) ?? refuse(noServers)
  }
}

const noServers = fault('not_found', 'There are no MCP servers here.')
