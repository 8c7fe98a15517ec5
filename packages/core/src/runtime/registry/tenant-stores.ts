import { newsSession, type SessionId, type SessionNews } from '@holdfast/protocol'
import type { SessionStores } from './session-stores.ts'

/** Returns the stores as a tenant sees them: its sessions, as if there were no others. New ones are its own. */
export const tenantStores = (stores: SessionStores, tenant: string): SessionStores => ({
  ...stores,
  list: (request) => stores.list({ ...request, tenant }),
  search: (request) => stores.search({ ...request, tenant }),
  find: (name) => stores.find(name, tenant),
  create: (session) => stores.create({ ...session, tenant }),
  async entry(id) {
    const row = await stores.entry(id)
    return row?.tenant === tenant ? row : null
  },
})

const knownMax = 10_000

/** Yields the news of a tenant's sessions. Each session is looked up once: it never changes its tenant. */
export async function* tenantNews(
  all: AsyncIterable<SessionNews>,
  { entry }: Pick<SessionStores, 'entry'>,
): AsyncGenerator<SessionNews> {
  const known = new Map<SessionId, boolean>()
  for await (const news of all) {
    const id = newsSession(news)
    const isOwn = known.get(id) ?? (await entry(id)) !== null
    if (known.size >= knownMax) known.clear()
    known.set(id, isOwn)
    if (isOwn) yield news
  }
}
