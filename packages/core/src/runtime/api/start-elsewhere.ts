import { type Fault, fault, ok, type Result, refuse, type SessionId, type StartOptions } from '@holdfast/protocol'
import { hasMoved } from '../registry/owners.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { noSignal } from './relocation.ts'

/**
 * Starts a session at a node that serves its folder, if this one refused it because the folder is missing here. Returns its
 * id; null if no running node serves it. Refused: workdir_elsewhere if none of them answers, else what that node refuses.
 */
export async function startElsewhere(
  { deps, owners }: SessionRegistry,
  options: StartOptions,
  tenant: string | undefined,
  { code, details }: Fault,
): Promise<Result<SessionId> | null> {
  const workdir = details?.['workdir']
  if (code !== 'bad_workdir' || details?.['reason'] !== 'missing' || typeof workdir !== 'string') return null
  const nodes = (await deps.cluster?.serving(workdir, deps.node.id)) ?? []
  if (nodes.length === 0) return null
  // A session that is never written to disk is known to its own node only.
  const asked = options.persist === false ? [] : nodes
  const session = deps.newSessionId()
  for (const row of asked) {
    const given = { ...options, workdir }
    const answer = await owners.connect(row).call({ session, method: 'start', args: [given, tenant ?? null] }, noSignal)
    if (answer.ok) return ok(session)
    if (!hasMoved(answer)) return answer
  }
  const addresses = nodes.map(({ address }) => address)
  return refuse(folderElsewhere(workdir, addresses))
}

const folderElsewhere = (workdir: string, nodes: readonly string[]): Fault =>
  fault(
    'workdir_elsewhere',
    `This node does not have ${workdir}. Start the session at one of these: ${nodes.join(', ')}.`,
    { workspace: workdir, label: null, nodes, retryAfterSeconds: 1 },
  )
