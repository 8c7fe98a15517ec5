import { Meta, ok, parseSessionName, Removal, type Result, type Sessions } from '@holdfast/protocol'
import { type Ask, field, type Http, notUnderstood } from './http.ts'

type Removals = Pick<Sessions, 'delete' | 'clearAll' | 'prune' | 'restore' | 'emptyTrash'>

/** How sessions of a server leave and come back. */
export function createRemoteRemovals(wire: Http): Removals {
  const removal = async (path: string, ask: Ask): Promise<Result<Removal>> => {
    const answer = await wire.json(path, ask)
    if (!answer.ok) return answer
    const read = Removal.safeParse(answer.value)
    return read.success ? ok(read.data) : notUnderstood('a removal')
  }

  return {
    async delete(name, { force, dryRun } = {}) {
      const form = parseSessionName(name)
      if (!form.ok) return form
      const query = new URLSearchParams({ ...(force && { force: 'true' }), ...(dryRun && { dryRun: 'true' }) })
      return removal(`/v1/sessions/${encodeURIComponent(name)}${query.size > 0 ? `?${query}` : ''}`, {
        method: 'DELETE',
      })
    },

    clearAll: (options = {}) => removal('/v1/clear', { body: options }),
    prune: (options) => removal('/v1/prune', { body: options }),
    emptyTrash: (options = {}) => removal('/v1/trash/empty', { body: options }),

    async restore(name) {
      const form = parseSessionName(name)
      if (!form.ok) return form
      const answer = await wire.json(`/v1/sessions/${encodeURIComponent(name)}/restore`, { method: 'POST' })
      if (!answer.ok) return answer
      const meta = Meta.safeParse(field(answer.value, 'session'))
      return meta.success ? ok(meta.data) : notUnderstood('a restoration')
    },
  }
}
