import type { ModelFault } from '@holdfast/protocol'

/** `detail` is what a service sent, with its status and its own id of the request. */
export const faultFields = ({ kind, message, detail }: ModelFault) => ({ kind, reason: message, detail })
