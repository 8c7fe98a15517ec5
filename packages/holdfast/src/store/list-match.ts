import type { ListRequest } from '@holdfast/core/ports'
import type { Meta } from '@holdfast/protocol'
import { createSearchMatch } from './search-match.ts'

/** Whether a request asks about what only `Meta` says; null when it does not, and nobody need look into it. */
export function createMetaMatch({
  model,
  search,
}: Pick<ListRequest, 'model' | 'search'>): ((meta: Meta) => boolean) | null {
  if (model === undefined && search === undefined) return null
  const matches = createSearchMatch(search)
  return (meta) => (model === undefined || meta.model === model) && matches(meta)
}
