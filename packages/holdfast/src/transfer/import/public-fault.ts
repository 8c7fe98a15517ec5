import { type Fault, type FaultCode, fault } from '@holdfast/protocol'

/** Faults that are not about the content of the file. */
const passedOn: ReadonlySet<FaultCode> = new Set(['storage_error', 'too_large', 'import_stopped', 'internal'])

/** Returns why bytes were not imported, without the path that they had for a moment. */
export const publicImportFault = ({ code, message }: Fault, path: string): Fault =>
  fault(passedOn.has(code) ? code : 'bad_request', message.replaceAll(path, 'The file'))
