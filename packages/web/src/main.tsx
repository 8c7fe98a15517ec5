import './no-eval.ts'
import { connectHoldfast } from '@holdfast/client'
import { invariant } from '@holdfast/protocol'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { HoldfastContext } from './actions/holdfast-context.ts'
import { App } from './app.tsx'
import { guardDrops } from './draft-files/guard-drops.ts'
import { openServerOnScreen, ServerContext } from './models/server-context.ts'
import { createLogin } from './screens/login.ts'
import { openScreens, pauseWhenHidden } from './screens/screens.ts'
import { alone, ScreensContext } from './screens/use-screens.ts'
import { sharedPath } from './shared-page.tsx'
import { openStreamFetch } from './stream/open-stream-fetch.ts'
import { PartBoundary } from './ui/lazy-part.tsx'
import { UiRoot } from './ui/ui-root.tsx'

const root = document.getElementById('root')
invariant(root, 'index.html has no #root')

// The page of a share link shows one session, and has no login until it has opened its link. Its cookie is for that session
// only, so that it cannot use the connection that carries all.
const isShared = location.pathname === sharedPath
const send: typeof fetch = (input, init) => fetch(input, init) // a browser's fetch needs its `this`
const login = createLogin(isShared ? send : openStreamFetch(send))
const holdfast = connectHoldfast(location.origin, undefined, { sharedStream: !isShared, fetch: login.fetch })
const server = openServerOnScreen(holdfast)
const screens = isShared ? alone : openScreens(holdfast.handles)
if (isShared) pauseWhenHidden(holdfast.handles)

guardDrops()
createRoot(root).render(
  <StrictMode>
    <HoldfastContext value={holdfast}>
      <ScreensContext value={screens}>
        <ServerContext value={server}>
          <UiRoot>
            <PartBoundary place="page">
              <App holdfast={holdfast} login={login} />
            </PartBoundary>
          </UiRoot>
        </ServerContext>
      </ScreensContext>
    </HoldfastContext>
  </StrictMode>,
)
