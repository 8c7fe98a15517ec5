import type { Route } from '../http/route.ts'
import { exportSession, getStats, importFile } from './archive.ts'
import { attachmentRoutes } from './attachments.ts'
import { storeFile } from './blobs.ts'
import { postCommand } from './commands.ts'
import { getEvents } from './events.ts'
import { getHealth } from './health.ts'
import { getLogin } from './login.ts'
import { getMessages } from './messages.ts'
import { listModels, refreshCredentials } from './models.ts'
import { getNews } from './news.ts'
import { getOpenApi } from './openapi.ts'
import { reads } from './reads.ts'
import { searchMessages } from './search.ts'
import { getSession } from './session.ts'
import { getSessionBlob } from './session-blob.ts'
import { listSessions, startSession } from './sessions.ts'
import { deleteSession, restoreSession, trashRoutes } from './trash.ts'
import { getUsage } from './usage.ts'

/** Every route there is, with who may call it. A test walks this table without a token. */
export const routes: readonly Route[] = [
  getHealth,
  getLogin,
  getOpenApi,
  getNews,
  listModels,
  refreshCredentials,
  listSessions,
  startSession,
  searchMessages,
  getSession,
  deleteSession,
  restoreSession,
  getMessages,
  getEvents,
  ...attachmentRoutes,
  postCommand,
  ...reads,
  getUsage,
  storeFile,
  getSessionBlob,
  ...trashRoutes,
  exportSession,
  importFile,
  getStats,
]
