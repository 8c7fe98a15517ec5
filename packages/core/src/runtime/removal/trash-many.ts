import { fault, ok, type Removal, type Result, refuse } from '@holdfast/protocol'
import type { ListRequest } from '../../ports/catalogue.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { createRemovalSummary } from './removal-summary.ts'
import { createIsElsewhere, trashSession } from './trash-session.ts'

/** How many sessions are handled at once. */
const pageSize = 100

export type Many = Pick<ListRequest, 'workspace' | 'activeBefore'> & {
  readonly dryRun: boolean
  /** Stops between two pages. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Moves all matching sessions to the trash, page by page, except those that run, are attached, pinned or open
 * elsewhere.
 */
export async function trashMany(registry: SessionRegistry, many: Many): Promise<Result<Removal>> {
  const { workspace, activeBefore, dryRun, signal } = many
  const account = createRemovalSummary(dryRun)
  const isElsewhere = createIsElsewhere(registry.deps)
  const options = {
    ...{ isElsewhere, dryRun, sparesPinned: true },
    isMeant: ({ activeAt }: { readonly activeAt: number }) => activeBefore === undefined || activeAt < activeBefore,
  }
  let cursor: string | undefined
  do {
    const page = await registry.stores.list({ workspace, activeBefore, cursor, limit: pageSize })
    const all = page.sessions.map(async ({ meta }) => [meta, await trashSession(registry, meta.id, options)] as const)
    for (const [meta, trashed] of await Promise.all(all)) {
      // The sessions moved before stay in the trash; the fault says how many.
      if (!trashed.ok) return refuse(stoppedAfter(trashed.fault, account.removal.count))
      if (trashed.value.type === 'gone') account.went(meta)
      if (trashed.value.type === 'stayed') account.stayed(meta, trashed.value.reason)
    }
    cursor = page.next ?? undefined
  } while (cursor !== undefined && !signal?.aborted)
  return ok(account.removal)
}

const stoppedAfter = ({ code, message, details }: ReturnType<typeof fault>, count: number) =>
  fault(code, message, { ...details, count })
