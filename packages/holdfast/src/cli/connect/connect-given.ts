import { connectHoldfast, type RemoteHoldfast } from '@holdfast/client'
import { connectWire, createRemoteOfferTrust, createRemotePermissions } from '@holdfast/client/internal'
import type { OfferTrust, PermissionRules } from '@holdfast/protocol'
import type { GivenServer } from '../terminal/cli-context.ts'

/** Connects to the server that `--url` names. */
export const connectGiven = ({ url, token }: GivenServer): RemoteHoldfast => connectHoldfast(url, token)

/** The permission rules of the user who runs the server. */
export const connectPermissions = (server: GivenServer): PermissionRules => createRemotePermissions(connectWire(server))

/** The trust of the user who runs the server. */
export const connectTrust = (server: GivenServer): OfferTrust => createRemoteOfferTrust(connectWire(server))
