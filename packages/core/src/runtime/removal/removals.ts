import {
  ClearOptions,
  DeleteOptions,
  EmptyTrashOptions,
  explainIssue,
  fault,
  ok,
  PruneOptions,
  type Result,
  refuse,
  type Sessions,
} from '@holdfast/protocol'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { deleteSession } from './delete-session.ts'
import { emptyTrash } from './empty-trash.ts'
import { restoreSession } from './restore-session.ts'
import { sweepBlobs } from './sweep-blobs.ts'
import { trashMany } from './trash-many.ts'

export type Removals = Pick<Sessions, 'delete' | 'clearAll' | 'prune' | 'restore' | 'emptyTrash'>

/** How sessions leave and come back: into the trash, out of it, and for good. */
export function createRemovals(registry: SessionRegistry): Removals {
  return {
    async delete(name, given = {}) {
      const options = parse(DeleteOptions, given)
      return options.ok ? deleteSession(registry, name, options.value) : options
    },

    async clearAll(given = {}) {
      const options = parse(ClearOptions, given)
      if (!options.ok) return options
      const { workspace, dryRun = false } = options.value
      return trashMany(registry, { workspace, dryRun })
    },

    async prune(given) {
      const options = parse(PruneOptions, given)
      if (!options.ok) return options
      const { before, workspace, dryRun = false } = options.value
      return trashMany(registry, { workspace, activeBefore: Date.parse(before), dryRun })
    },

    restore: (name) => restoreSession(registry, name),

    async emptyTrash(given = {}) {
      const options = parse(EmptyTrashOptions, given)
      if (!options.ok) return options
      const { before, dryRun = false } = options.value
      const emptied = await emptyTrash(registry, {
        dryRun,
        ...(before !== undefined && { beforeMs: Date.parse(before) }),
      })
      // What they alone referred to goes too; that it could not be swept now harms nobody.
      if (!dryRun && emptied.ok && emptied.value.count > 0)
        await sweepBlobs(registry.parts).catch((cause) => registry.parts.onProblem({ where: 'sweeping blobs', cause }))
      return emptied
    },
  }
}

type Schema<Value> = {
  safeParse(
    given: unknown,
  ): { readonly success: true; readonly data: Value } | { readonly success: false; readonly error: Issues }
}
type Issues = Parameters<typeof explainIssue>[0]

function parse<Value>(schema: Schema<Value>, given: unknown): Result<Value> {
  const parsed = schema.safeParse(given)
  return parsed.success
    ? ok(parsed.data)
    : refuse(fault('bad_request', `Cannot remove sessions: ${explainIssue(parsed.error)}.`))
}
