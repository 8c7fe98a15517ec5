import type { RemoteHoldfast } from '@holdfast/client'
import { createContext } from 'react'

/** The permission rules of the user, on the server of this page. */
type PagePermissions = Pick<RemoteHoldfast, 'permissions' | 'addPermission' | 'removePermission'>

const absent = () => Promise.reject(new Error('This page is not connected to a server.'))

export const PermissionsContext = createContext<PagePermissions>({
  permissions: absent,
  addPermission: absent,
  removePermission: absent,
})
