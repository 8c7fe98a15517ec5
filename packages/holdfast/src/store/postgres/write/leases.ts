import type { Lease, Leases, NodeRow } from '@holdfast/core/ports'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { sessionLocked, sessionNotFound, sessionTrashed } from '../../store-faults.ts'
import { attempt, type Database } from '../connect/connect.ts'
import { textOrNull } from '../read/columns.ts'

// The owner is asked about and replaced in one statement: once its term has ended it cannot be renewed. A draining node
// claims what it owns already: a turn that it lets finish may start a subagent.
const claimStatement = `
  update @session set owner = $2, epoch = epoch + 1, label = coalesce(label, @label_of(workspace, $2))
  where id = $1 and purged_at is null and trashed_at is null
    and (owner = $2 or (owner is null or owner = $3 and not @is_live($3)) and @may_run($2, workspace, label))
  returning epoch, head, base`

const whyNot = `
  select owner, @is_live(owner) as is_live, trashed_at, workspace, label, @may_run($2, workspace, label) as may_run,
    coalesce((select is_draining from @node where id = $2), false) as is_draining, array(
    select address from @node n where n.term_ends > clock_timestamp() and n.key is not null
      and @may_run(n.id, workspace, label) order by n.id) as nodes
  from @session where id = $1 and purged_at is null`

/** A node that only registers, and renews nothing, lives this long. */
const unrenewedMs = 4000

/** Returns the end of a term that begins now, by the clock of the database. `termMs` is a parameter of the statement. */
export const termEnd = (termMs: string): string => `clock_timestamp() + ${termMs} * interval '1 millisecond'`

/** Claims and releases sessions, and lists the nodes. */
export function createLeases({ read, write }: Database): Leases {
  async function findClaimRefusal(session: string, owner: string, takeFrom: string | null): Promise<Result<never>> {
    const [current] = await read(whyNot, [session, owner])
    if (current === undefined) return refuse(sessionNotFound(session))
    if (current['trashed_at'] !== null) return refuse(sessionTrashed(session))
    const holder = textOrNull(current['owner'])
    const isHeld = holder !== null && holder !== owner && (current['is_live'] === true || holder !== takeFrom)
    if (isHeld || current['may_run'] === true) return refuse(sessionLocked(session, holder))
    const refusal = { ...current } as PlaceRefusal // its columns
    return refuse(current['is_draining'] === true ? draining(session, refusal) : workdirElsewhere(session, refusal))
  }

  return {
    claim: (session, owner, takeFrom) =>
      attempt(async () => {
        const [row] = await write(claimStatement, [session, owner, takeFrom])
        if (row !== undefined) return ok({ ...row } as Lease) // its columns
        return findClaimRefusal(session, owner, takeFrom)
      }),

    // Raises the epoch too: a former owner may not append, even before the next owner claims the session.
    async release(session, owner, epoch) {
      await write('update @session set owner = null, epoch = epoch + 1 where id = $1 and owner = $2 and epoch = $3', [
        ...[session, owner, epoch],
      ])
    },

    async registerNode({ id, address, startedAt }) {
      await write(
        `insert into @node (id, address, started_at, term_ends) values ($1, $2, $3, ${termEnd('$4')})
        on conflict (id) do update
        set address = excluded.address, started_at = excluded.started_at, term_ends = excluded.term_ends`,
        [id, address, startedAt, unrenewedMs],
      )
    },
    async nodes() {
      const rows = await read(
        `select id, address, started_at as "startedAt", term_ends > clock_timestamp() as "isLive" from @node order by id`,
      )
      return rows.map((row) => ({ ...row }) as NodeRow) // its columns
    },
    // A paused node may have joined again since it was read: without its row, others could take over what it runs.
    async removeNode(id, why) {
      const isEnded = why === 'ended' ? ' and term_ends <= clock_timestamp()' : ''
      await write(`delete from @node where id = $1${isEnded}`, [id])
    },
  }
}

/** Why a node may not run a session, with the addresses of the live nodes that may. */
type PlaceRefusal = { readonly workspace: string; readonly label: string | null; readonly nodes: readonly string[] }

/** This node is about to stop, and hands its sessions over. */
function draining(session: string, { workspace, label, nodes }: PlaceRefusal): Fault {
  const where = nodes.length > 0 ? `Use one of these: ${nodes.join(', ')}.` : 'No other running node serves its folder.'
  const message = `This node is about to stop and runs session ${session} no more. ${where}`
  return fault('workdir_elsewhere', message, {
    session,
    workspace,
    label,
    nodes,
    reason: 'draining',
    retryAfterSeconds: 1,
  })
}

/** Another node has the files of the session. */
function workdirElsewhere(session: string, { workspace, label, nodes }: PlaceRefusal): Fault {
  const who = nodes.length > 0 ? `These do: ${nodes.join(', ')}.` : 'No running node does.'
  const hint = label === null ? '' : ` Start one with --serves ${label}=FOLDER.`
  const message = `This node does not serve ${workspace}, the folder of session ${session}. ${who}${nodes.length > 0 ? '' : hint}`
  return fault('workdir_elsewhere', message, { session, workspace, label, nodes, retryAfterSeconds: 1 })
}
