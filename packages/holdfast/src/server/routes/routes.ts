import type { Route } from '../http/route.ts'
import { archiveRoutes } from './archive.ts'
import { attachmentRoutes } from './attachments.ts'
import { blobRoutes } from './blobs.ts'
import { commandRoutes } from './commands.ts'
import { eventRoutes } from './events.ts'
import { modelRoutes } from './models.ts'
import { serverRoutes } from './server.ts'
import { sessionRoutes } from './session.ts'
import { sessionsRoutes } from './sessions.ts'
import { trashRoutes } from './trash.ts'

/** All routes, with who may call them. A test calls each one without a token. */
export const routes: readonly Route[] = [
  ...serverRoutes,
  ...modelRoutes,
  ...sessionsRoutes,
  ...sessionRoutes,
  ...eventRoutes,
  ...attachmentRoutes,
  ...commandRoutes,
  ...blobRoutes,
  ...trashRoutes,
  ...archiveRoutes,
]
