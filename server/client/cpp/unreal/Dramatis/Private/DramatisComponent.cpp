#include "DramatisComponent.h"

#include "Modules/ModuleManager.h"
#include "WebSocketsModule.h"

#include <dramatis/talk.hpp>

IMPLEMENT_MODULE(FDefaultModuleImpl, Dramatis)

namespace
{
    FString Wide(const std::string& Text) { return FString(UTF8_TO_TCHAR(Text.c_str())); }
    std::string Narrow(const FString& Text) { return std::string(TCHAR_TO_UTF8(*Text)); }
}

UDramatisComponent::UDramatisComponent()
{
    PrimaryComponentTick.bCanEverTick = true;
    bAutoActivate = true;
}

void UDramatisComponent::BeginPlay()
{
    Super::BeginPlay();
    dramatis::TalkOptions Options;
    Options.character = Narrow(Character);
    Options.key = Narrow(Key);
    Options.random = [] { return static_cast<double>(FMath::FRand()); };
    dramatis::Transport Transport;
    Transport.dial = [this](const std::string& Query, const std::vector<std::string>& Protocols) {
        TArray<FString> Names;
        for (const auto& Protocol : Protocols) Names.Add(Wide(Protocol));
        Dial(Wide(Query), Names);
    };
    Transport.sendText = [this](const std::string& Text) { if (Socket) Socket->Send(Wide(Text)); };
    Transport.sendBytes = [this](const dramatis::Bytes& Bytes) { if (Socket) Socket->Send(Bytes.data(), Bytes.size(), true); };
    Transport.close = [this](int Code) {
        if (!Socket) return;
        TSharedPtr<IWebSocket> Old = MoveTemp(Socket);
        Old->Close(Code);
    };
    dramatis::TalkHandlers Handlers;
    Handlers.received = [this](const dramatis::Json& Told) {
        if (Told["type"].text() == "response.output_audio_transcript.delta") OnSays.Broadcast(Wide(Told["delta"].text()));
        OnReceives.Broadcast(Wide(Told.write()));
    };
    Handlers.due = [this](const dramatis::Json& Told) { OnActs.Broadcast(Wide(Told.write())); };
    Talk = std::make_shared<dramatis::Talk>(Options, Transport, Handlers);

    Wave = NewObject<USoundWaveProcedural>(this);
    Wave->SetSampleRate(dramatis::sampleRate);
    Wave->NumChannels = 1;
    Wave->Duration = INDEFINITELY_LOOPING_DURATION;
    Wave->bLooping = false;
    // The audio thread asks for more; it may outlive this component by a callback.
    std::weak_ptr<dramatis::Talk> Weak = Talk;
    Wave->OnSoundWaveProceduralUnderflow = FOnSoundWaveProceduralUnderflow::CreateLambda([Weak](USoundWaveProcedural* Asking, int32 Samples) {
        const auto Held = Weak.lock();
        if (!Held) return;
        dramatis::Samples Buffer(static_cast<std::size_t>(Samples));
        Held->speaker().render(Buffer.data(), Samples);
        Asking->QueueAudio(reinterpret_cast<const uint8*>(Buffer.data()), Samples * 2);
    });
    SetSound(Wave);
    Play();
    Talk->open();
}

void UDramatisComponent::EndPlay(const EEndPlayReason::Type Reason)
{
    Stop();
    if (Talk) Talk->close();
    Talk.reset();
    Super::EndPlay(Reason);
}

void UDramatisComponent::Dial(const FString& Query, const TArray<FString>& Protocols)
{
    TSharedRef<IWebSocket> Next = FWebSocketsModule::Get().CreateWebSocket(Url + TEXT("/v1/realtime?") + Query, Protocols);
    Socket = Next;
    Message.Reset();
    // What an older socket still tells means nothing.
    const TWeakPtr<IWebSocket> Mine = Next;
    const auto IsCurrent = [this, Mine] { return Talk && Socket && Mine.Pin() == Socket; };
    Next->OnMessage().AddLambda([this, IsCurrent](const FString& Text) { if (IsCurrent()) Talk->socketText(Narrow(Text)); });
    Next->OnBinaryMessage().AddLambda([this, IsCurrent](const void* Data, SIZE_T Size, bool bIsLast) {
        if (!IsCurrent()) return;
        Message.Append(static_cast<const uint8*>(Data), Size);
        if (!bIsLast) return;
        const dramatis::Bytes Bytes(Message.GetData(), Message.GetData() + Message.Num());
        Message.Reset();
        Talk->socketBytes(Bytes);
    });
    Next->OnConnectionError().AddLambda([this, IsCurrent](const FString& Error) {
        if (IsCurrent()) Talk->socketClosed(Error.Contains(TEXT("401")) || Error.Contains(TEXT("403")) ? 1008 : 1006);
    });
    Next->OnClosed().AddLambda([this, IsCurrent](int32 Code, const FString&, bool) { if (IsCurrent()) Talk->socketClosed(Code); });
    Next->Connect();
}

void UDramatisComponent::TickComponent(float DeltaTime, ELevelTick TickType, FActorComponentTickFunction* ThisTickFunction)
{
    Super::TickComponent(DeltaTime, TickType, ThisTickFunction);
    if (!Talk) return;
    Talk->speaker().setLatencySamples(Wave->GetAvailableAudioByteCount() / 2);
    Talk->update(DeltaTime * 1000.0);
    MoveMouth();
}

void UDramatisComponent::MoveMouth()
{
    if (Face == nullptr) return;
    const auto Shapes = Talk->lipSync().weights();
    if (!Shapes) return;
    const auto Mixed = dramatis::mixed(dramatis::ArKitTable(), *Shapes);
    for (const auto& [Viseme, Row] : dramatis::ArKitTable())
        for (const auto& [Name, Full] : Row) {
            const auto Found = Mixed.find(Name);
            Face->SetMorphTarget(FName(*Wide(Name)), Found == Mixed.end() ? 0.0f : static_cast<float>(Found->second) * MouthStrength);
        }
}

void UDramatisComponent::Say(const FString& Text) { if (Talk) Talk->say(Narrow(Text)); }

void UDramatisComponent::Interrupt() { if (Talk) Talk->interrupt(); }

void UDramatisComponent::SendAudio(const TArray<uint8>& Pcm16)
{
    if (Talk) Talk->sendAudio(dramatis::Bytes(Pcm16.GetData(), Pcm16.GetData() + Pcm16.Num()));
}
