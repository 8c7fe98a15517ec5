import { fault } from '@holdfast/protocol'

export const turnRunning = fault('turn_running', 'A turn is running. Wait for it, or abort it.')
