import type { Route } from '../define/route.ts'
import { loginRoutes } from './access/login.ts'
import { permissionRoutes } from './access/permissions.ts'
import { tokenRoutes } from './access/tokens.ts'
import { trustRoutes } from './access/trust.ts'
import { folderRoutes } from './server/folders.ts'
import { modelSettingRoutes } from './server/model-settings.ts'
import { healthRoutes, serverRoutes } from './server/server.ts'
import { spendingRoutes } from './server/spending.ts'
import { attachmentRoutes } from './sessions/attachments.ts'
import { blobRoutes } from './sessions/blobs.ts'
import { commandRoutes } from './sessions/commands.ts'
import { eventRoutes, newsRoutes } from './sessions/events.ts'
import { pathRoutes } from './sessions/paths.ts'
import { sessionRoutes } from './sessions/sessions.ts'
import { streamRoutes } from './sessions/stream.ts'
import { transferRoutes } from './sessions/transfer.ts'
import { trashRoutes } from './sessions/trash.ts'

/** All routes, with who may call them. A test calls each one without a token. */
export const routes: readonly Route[] = [
  ...healthRoutes,
  ...loginRoutes,
  ...serverRoutes,
  ...modelSettingRoutes,
  ...tokenRoutes,
  ...spendingRoutes,
  ...permissionRoutes,
  ...trustRoutes,
  ...folderRoutes,
  ...pathRoutes,
  ...sessionRoutes,
  ...newsRoutes,
  ...streamRoutes,
  ...eventRoutes,
  ...attachmentRoutes,
  ...commandRoutes,
  ...blobRoutes,
  ...trashRoutes,
  ...transferRoutes,
]
