import { ClientId } from '@holdfast/protocol'

/** Whose the commands of this program are, in the log. */
export const thisClient = ClientId.parse('cli')
