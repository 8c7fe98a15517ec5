export { describeProvider, type ProviderSubject } from './provider.ts'
