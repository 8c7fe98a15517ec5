import { type NodeNews, newsSession, type SessionId, type SessionNews } from '@holdfast/protocol'
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

/** Yields news as clients get them: without the tenant, and to a tenant only those of its own sessions. */
export async function* clientNews(
  all: AsyncIterable<NodeNews>,
  stores: Pick<SessionStores, 'entry'>,
  tenant: string | undefined,
): AsyncGenerator<SessionNews> {
  for await (const news of tenant === undefined ? all : tenantNews(all, stores, tenant))
    yield news.type === 'session.removed' ? { type: news.type, session: news.session } : news
}

/** Each session is looked up once: it never changes its tenant. A removed one may have no row, and the news name its tenant. */
async function* tenantNews(
  all: AsyncIterable<NodeNews>,
  { entry }: Pick<SessionStores, 'entry'>,
  tenant: string,
): AsyncGenerator<NodeNews> {
  const known = new Map<SessionId, boolean>()
  for await (const news of all) {
    const id = newsSession(news)
    const isNamed = news.type === 'session.removed' && news.tenant === tenant
    const isOwn = isNamed || (known.get(id) ?? (await entry(id)) !== null)
    if (known.size >= knownMax) known.clear()
    known.set(id, isOwn)
    if (isOwn) yield news
  }
}
