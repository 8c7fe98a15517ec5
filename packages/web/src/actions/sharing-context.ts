import type { RemoteHoldfast } from '@holdfast/client'
import { createContext } from 'react'

/** The links that show a session of the server of this page, and what the login of the page may do. */
type PageSharing = Pick<RemoteHoldfast, 'share' | 'tokens' | 'access'>

const absent = () => Promise.reject(new Error('This page is not connected to a server.'))

export const SharingContext = createContext<PageSharing>({
  share: absent,
  access: absent,
  tokens: { create: absent, list: absent, revoke: absent },
})
