import type { Meta, SessionId } from '@holdfast/protocol'
import { limits } from '@holdfast/protocol/limits'
import type { Catalogue } from '../../ports/store/catalogue.ts'

type Rows = Pick<Catalogue, 'list'>

/** Shows interrupted sessions that wait with a subagent for an approval as waiting: the answer carries both on. */
export const showWaiting = (rows: Rows, metas: readonly Meta[]): Promise<readonly Meta[]> =>
  Promise.all(
    metas.map(async (meta): Promise<Meta> => {
      if (meta.status !== 'interrupted') return meta
      const waiting = await countWaiting(rows, meta.id, limits.subagentDepthMax)
      return waiting === 0 ? meta : { ...meta, status: 'tool_executing', waiting }
    }),
  )

/** Counts the approvals that the subagents wait for which calls of a session wait for. */
async function countWaiting(rows: Rows, id: SessionId, levels: number): Promise<number> {
  if (levels === 0) return 0
  const { sessions } = await rows.list({ startedFor: id, limit: limits.listSessionsMax })
  let count = 0
  for (const { meta, busy } of sessions)
    if (meta.subagent && !meta.background)
      count += busy ? await countWaiting(rows, meta.id, levels - 1) : (meta.waiting ?? 0)
  return count
}
