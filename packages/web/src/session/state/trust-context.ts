import type { RemoteHoldfast } from '@holdfast/client'
import { createContext } from 'react'

/** The trust of the user in what workspaces offer, on the server of this page. */
type PageTrust = Pick<RemoteHoldfast, 'workspaceOffers' | 'trustOffers'>

const absent = () => Promise.reject(new Error('This page is not connected to a server.'))

export const TrustContext = createContext<PageTrust>({ workspaceOffers: absent, trustOffers: absent })
