import {
  addUsage,
  fault,
  limits,
  type Meta,
  ok,
  type Result,
  refuse,
  type SessionId,
  sessionNotFound,
  type TreeUsage,
} from '@holdfast/protocol'
import type { Catalogue } from '../../ports/store/catalogue.ts'

type Rows = Pick<Catalogue, 'entry' | 'list'>

/** Sums the usage of a session and of all sessions started for it, directly or not, trashed ones too; no forks. */
export async function sumTreeUsage(rows: Rows, root: SessionId): Promise<Result<TreeUsage>> {
  const row = await rows.entry(root)
  if (!row) return refuse(sessionNotFound(root, { session: root }))
  let sessions = 1
  let { usage } = row.entry.meta
  for await (const child of descendantsOf(rows, root)) {
    if (sessions >= limits.treeSessionsMax) return refuse(tooLarge(root))
    sessions += 1
    usage = addUsage(usage, child.usage)
  }
  return ok({ usage, sessions })
}

/** Reads all sessions started for a session, directly or not, each once; those in the trash too, unless `places` says otherwise. */
export async function* descendantsOf(
  rows: Pick<Rows, 'list'>,
  root: SessionId,
  places: readonly ('listed' | 'trash')[] = ['listed', 'trash'],
): AsyncGenerator<Meta> {
  const seen = new Set([root])
  const waiting = [root]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for await (const child of childrenOf(rows, next, places)) {
      if (seen.has(child.id)) continue
      seen.add(child.id)
      waiting.push(child.id)
      yield child
    }
  }
}

async function* childrenOf(
  rows: Pick<Rows, 'list'>,
  session: SessionId,
  places: readonly ('listed' | 'trash')[],
): AsyncGenerator<Meta> {
  for (const place of places) {
    const trashed = place === 'trash'
    let cursor: string | undefined
    do {
      const page = await rows.list({ startedFor: session, trashed, limit: limits.listSessionsMax, cursor })
      for (const { meta } of page.sessions) yield meta
      cursor = page.next ?? undefined
    } while (cursor !== undefined)
  }
}

const tooLarge = (root: SessionId) =>
  fault('too_large', `More than ${limits.treeSessionsMax} sessions were started for ${root}: too many to count.`, {
    sessionsMax: limits.treeSessionsMax,
  })
